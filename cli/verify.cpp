#include <fmt/format.h>

#include <memory>

#include "cli/commands.hpp"
#include "headrace/core/json.hpp"
#include "headrace/ingest/versions/verify_folder.hpp"

namespace headrace::cli {
namespace {

constexpr const char* kFooter =
    "Examples:\n"
    "  headrace verify cohort.zarr\n"
    "  headrace verify cohort.zarr --json --jobs 8\n"
    "\n"
    "Every name and text in a store of volumes is also held against the allow-list of what may "
    "stand "
    "there: what could identify\n"
    "a patient is named by its object and key, and not repeated.\n"
    "Exit codes: 0 every object is as it was stored, 1 failed, 4 something is damaged, missing or "
    "foreign, or may identify.";

void print(const ingest::FolderVerification& found) {
  const auto& [damages, versions, unreferenced] = found.objects;
  const std::string& path = found.folder;
  for (const auto& damage : damages)
    fmt::print("{} {}: {}\n", name_of(damage.kind), damage.key, damage.detail);
  for (const auto& finding : found.phi)
    fmt::print("may identify {}{}: {}\n", finding.key,
               finding.at.empty() ? "" : " at " + finding.at, finding.detail);
  if (damages.empty()) {
    fmt::print("{}: every object of {} version{} is as it was stored (dataset hash {})\n", path,
               versions.size(), versions.size() == 1 ? "" : "s", found.dataset_hash);
  } else {
    fmt::print("{}: {} objects are not as they were stored\n", path, damages.size());
  }
  if (!unreferenced.empty()) {
    fmt::print("{}: {} objects that no version has; headrace prune removes them\n", path,
               unreferenced.size());
  }
  if (!found.phi.empty())
    fmt::print("{}: {} texts that the allow-list does not know\n", path, found.phi.size());
}

void run(const std::string& path, const std::string& version, int jobs, bool json) {
  ThreadPool pool(jobs);
  const auto found = ingest::verify_folder(path, pool, version);
  if (json) {
    fmt::print("{}", dump_json(found.report()));
  } else {
    print(found);
  }
  if (!found.sound()) throw ExitCode{4};
}

}  // namespace

void add_verify(Command app) {
  Command verify = app.subcommand(
      "verify", "Reads every object of a store's versions and compares it with their lists.");
  verify.footer(kFooter);
  struct Arguments {
    std::string path, version;
    int jobs = 0;
    bool json = false;
  };
  auto arguments = std::make_shared<Arguments>();
  verify.option("STORE", arguments->path, "the store's folder").required();
  verify.option("--version", arguments->version,
                "one version of it: a dataset hash, or its first digits (all)");
  verify.option("--jobs", arguments->jobs, "threads; 0: every core").shows_default();
  verify.flag("--json", arguments->json, "print one JSON object");
  verify.callback(
      [arguments] { run(arguments->path, arguments->version, arguments->jobs, arguments->json); });
}

}  // namespace headrace::cli
