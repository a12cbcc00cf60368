#include <fmt/format.h>

#include <filesystem>
#include <memory>

#include "cli/commands.hpp"
#include "headrace/cohort/store_version.hpp"
#include "headrace/core/error.hpp"
#include "headrace/ingest/versions/version_diff.hpp"
#include "headrace/storage/local_store.hpp"

namespace headrace::cli {
namespace {

constexpr const char* kFooter =
    "A version is named by its dataset hash or the first digits of it; headrace info STORE\n"
    "--versions lists them. Labels are compared pixel by pixel at level 0.\n"
    "\n"
    "Examples:\n"
    "  headrace diff cohort.zarr 3f2a 91bc\n"
    "  headrace diff cohort.zarr 3f2a 91bc --json\n"
    "\n"
    "Exit codes: 0 done, 1 failed, 2 usage (no such version).";

struct Arguments {
  std::string store, before, after;
  int jobs = 0;
  bool json = false;
};

void run(const Arguments& a) {
  if (!std::filesystem::is_directory(a.store))
    fail(ErrorCode::not_found, "{}: there is no such store", a.store);
  const auto store = std::make_shared<const storage::LocalStore>(a.store);
  ThreadPool pool(a.jobs);
  const auto diff = ingest::diff_versions(store, a.before, a.after, pool);
  if (a.json) {
    fmt::print("{}", dump_json(to_json(diff)));
    return;
  }
  const std::string kind = cohort::StoreVersion::load(*store, diff.after).kind;
  for (const auto& line : in_words(diff, kind)) fmt::print("{}\n", line);
}

}  // namespace

void add_diff(CLI::App& app) {
  CLI::App* diff = app.add_subcommand("diff", "Says what differs between two versions of a store.");
  diff->footer(kFooter);
  auto arguments = std::make_shared<Arguments>();
  diff->add_option("STORE", arguments->store, "the store's folder")->required();
  diff->add_option("BEFORE", arguments->before, "a version")->required();
  diff->add_option("AFTER", arguments->after, "another version")->required();
  diff->add_option("--jobs", arguments->jobs, "threads; 0: every core")->capture_default_str();
  diff->add_flag("--json", arguments->json, "print one JSON object");
  diff->callback([arguments] { run(*arguments); });
}

}  // namespace headrace::cli
