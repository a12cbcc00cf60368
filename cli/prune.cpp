#include "headrace/ingest/versions/prune.hpp"

#include <fmt/format.h>

#include <memory>

#include "cli/commands.hpp"
#include "headrace/core/json.hpp"

namespace headrace::cli {
namespace {

constexpr const char* kFooter =
    "Without options only objects go that no version has: what a stopped ingest left. Versions go\n"
    "only when they are named, or by --keep-last; the current one never. Runs that were trained on "
    "a\n"
    "version that is given up can't be resumed or evaluated on it any more.\n"
    "\n"
    "Examples:\n"
    "  headrace prune cohort.zarr --dry-run\n"
    "  headrace prune cohort.zarr --drop 3f2a\n"
    "  headrace prune cohort.zarr --keep-last 5\n"
    "\n"
    "Exit codes: 0 done, 1 failed, 2 usage (the current version, no such version).";

void run(const ingest::PruneOptions& options, bool json) {
  const auto result = ingest::prune(options);
  if (json) {
    fmt::print("{}", dump_json({{"dropped", result.dropped},
                                {"removed", result.removed},
                                {"bytes", result.bytes},
                                {"dry_run", options.dry_run}}));
    return;
  }
  const char* would = options.dry_run ? "would be " : "";
  for (const auto& version : result.dropped) fmt::print("version {} {}given up\n", version, would);
  fmt::print("{} objects {}removed, {:.1f} MB\n", result.removed.size(), would,
             static_cast<double>(result.bytes) / 1e6);
}

}  // namespace

void add_prune(Command app) {
  Command prune = app.subcommand("prune", "Removes what no version of a store has.");
  prune.footer(kFooter);
  struct Arguments {
    ingest::PruneOptions options;
    bool json = false;
  };
  auto arguments = std::make_shared<Arguments>();
  auto& options = arguments->options;
  prune.option("STORE", options.store, "the store's folder").required();
  prune.option("--drop", options.drop, "versions to give up, separated by commas")
      .separated_by_commas();
  prune
      .option("--keep-last", options.keep_last,
              "give up all versions but the last so many; 0: none")
      .shows_default();
  prune.flag("--dry-run", options.dry_run, "say what would go, and leave it");
  prune.flag("--json", arguments->json, "print one JSON object");
  prune.callback([arguments] { run(arguments->options, arguments->json); });
}

}  // namespace headrace::cli
