#include <fmt/format.h>

#include <filesystem>
#include <memory>

#include "cli/commands.hpp"
#include "headrace/cohort/store_version.hpp"
#include "headrace/core/error.hpp"
#include "headrace/core/json.hpp"
#include "headrace/ingest/phi/phi_check.hpp"
#include "headrace/ingest/versions/verify.hpp"
#include "headrace/storage/local_store.hpp"

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

/// The version that was verified: the current one, where all were.
std::string current_of(const storage::Store& store, const ingest::Verification& found) {
  return found.versions.size() == 1 ? found.versions.front()
                                    : cohort::StoreHead::load(store).current;
}

void run(const std::string& path, const std::string& version, int jobs, bool json) {
  if (!std::filesystem::is_directory(path))
    fail(ErrorCode::not_found, "{}: there is no such store", path);
  const storage::LocalStore store(path);
  ThreadPool pool(jobs);
  const auto found = ingest::verify(store, pool, version);
  const auto& damages = found.damage;
  const auto phi = ingest::holds_volumes(store) ? ingest::check_phi(store, pool)
                                                : std::vector<ingest::PhiFinding>();
  const bool sound = damages.empty() && phi.empty();
  if (json) {
    Json list = Json::array();
    for (const auto& damage : damages) {
      list.push_back(
          {{"key", damage.key}, {"kind", name_of(damage.kind)}, {"detail", damage.detail}});
    }
    Json texts = Json::array();
    for (const auto& finding : phi) {
      texts.push_back({{"key", finding.key}, {"at", finding.at}, {"detail", finding.detail}});
    }
    Json facts{{"store", path},
               {"ok", sound},
               {"damage", list},
               {"phi", texts},
               {"versions", found.versions},
               {"unreferenced", found.unreferenced}};
    if (damages.empty()) facts["dataset_hash"] = current_of(store, found);
    fmt::print("{}", dump_json(facts));
  } else {
    for (const auto& damage : damages)
      fmt::print("{} {}: {}\n", name_of(damage.kind), damage.key, damage.detail);
    for (const auto& finding : phi)
      fmt::print("may identify {}{}: {}\n", finding.key,
                 finding.at.empty() ? "" : " at " + finding.at, finding.detail);
    if (damages.empty()) {
      fmt::print("{}: every object of {} version{} is as it was stored (dataset hash {})\n", path,
                 found.versions.size(), found.versions.size() == 1 ? "" : "s",
                 current_of(store, found));
    } else {
      fmt::print("{}: {} objects are not as they were stored\n", path, damages.size());
    }
    if (!found.unreferenced.empty()) {
      fmt::print("{}: {} objects that no version has; headrace prune removes them\n", path,
                 found.unreferenced.size());
    }
    if (!phi.empty())
      fmt::print("{}: {} texts that the allow-list does not know\n", path, phi.size());
  }
  if (!sound) throw ExitCode{4};
}

}  // namespace

void add_verify(CLI::App& app) {
  CLI::App* verify = app.add_subcommand(
      "verify", "Reads every object of a store's versions and compares it with their lists.");
  verify->footer(kFooter);
  struct Arguments {
    std::string path, version;
    int jobs = 0;
    bool json = false;
  };
  auto arguments = std::make_shared<Arguments>();
  verify->add_option("STORE", arguments->path, "the store's folder")->required();
  verify->add_option("--version", arguments->version,
                     "one version of it: a dataset hash, or its first digits (all)");
  verify->add_option("--jobs", arguments->jobs, "threads; 0: every core")->capture_default_str();
  verify->add_flag("--json", arguments->json, "print one JSON object");
  verify->callback(
      [arguments] { run(arguments->path, arguments->version, arguments->jobs, arguments->json); });
}

}  // namespace headrace::cli
