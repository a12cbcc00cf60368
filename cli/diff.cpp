#include <fmt/format.h>

#include <memory>

#include "cli/commands.hpp"
#include "headrace/cohort/store_version.hpp"
#include "headrace/core/error.hpp"
#include "headrace/ingest/versions/version_diff.hpp"
#include "headrace/storage/open_store.hpp"
#include "learn/config/run_config.hpp"
#include "learn/runs/run_comparison.hpp"

namespace headrace::cli {
namespace {

constexpr const char* kFooter =
    "Of a store: two versions, each named by its dataset hash or the first digits of it; headrace\n"
    "info STORE --versions lists them. Labels are compared pixel by pixel at level 0.\n"
    "Of two run folders: config, data, code, libraries, hardware, preprocessing, first weights; and\n"
    "figures by cohort, scanner and phase, with a paired bootstrap interval of each difference where\n"
    "both were evaluated on the same split of the same dataset.\n"
    "\n"
    "Examples:\n"
    "  headrace diff cohort.zarr 3f2a 91bc\n"
    "  headrace diff cohort.zarr 3f2a 91bc --json\n"
    "  headrace diff runs/a runs/b\n"
    "\n"
    "Exit codes: 0 done, 1 failed, 2 usage (no such version).";

struct Arguments {
  std::string first, second, third;
  int jobs = 0;
  bool json = false;
};

void diff_versions(const Arguments& a) {
  const auto store = storage::open_existing_store(storage::Place::parse(a.first));
  ThreadPool pool(a.jobs);
  const auto diff = ingest::diff_versions(store, a.second, a.third, pool);
  if (a.json) {
    fmt::print("{}", dump_json(to_json(diff)));
    return;
  }
  const std::string kind = cohort::StoreVersion::load(*store, diff.after).kind;
  for (const auto& line : in_words(diff, kind)) fmt::print("{}\n", line);
}

void diff_runs(const Arguments& a) {
  for (const std::string& path : {a.first, a.second}) {
    if (runs::RunFolder::holds_run(path)) continue;
    fail(ErrorCode::usage,
         "{} holds no run. Two arguments are run folders (headrace diff RUN RUN); versions of a "
         "store need three (headrace diff STORE BEFORE AFTER).",
         path);
  }
  const Json comparison =
      runs::compare_runs(runs::RunFolder::open(a.first), runs::RunFolder::open(a.second),
                         config::RunConfig::decides_nothing);
  fmt::print("{}", a.json ? dump_json(comparison) : runs::in_words(comparison));
}

void run(const Arguments& a) { a.third.empty() ? diff_runs(a) : diff_versions(a); }

}  // namespace

void add_diff(Command app) {
  Command diff =
      app.subcommand("diff", "Says what differs between two versions of a store, or two runs.");
  diff.footer(kFooter);
  auto arguments = std::make_shared<Arguments>();
  diff.option("STORE", arguments->first, "the store's folder; or a run folder").required();
  diff.option("BEFORE", arguments->second, "a version; or another run folder").required();
  diff.option("AFTER", arguments->third, "another version; not of runs");
  diff.option("--jobs", arguments->jobs, "threads; 0: every core").shows_default();
  diff.flag("--json", arguments->json, "print one JSON object");
  diff.callback([arguments] { run(*arguments); });
}

}  // namespace headrace::cli
