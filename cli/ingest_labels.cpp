#include <fmt/format.h>

#include <memory>

#include "cli/described_options.hpp"
#include "cli/ingest_findings.hpp"
#include "cli/ingest_kinds.hpp"
#include "headrace/core/json.hpp"
#include "headrace/ingest/ingest_report.hpp"
#include "headrace/ingest/labels/label_ingest_options.hpp"

namespace headrace::cli {
namespace {

constexpr const char* kFooter =
    "What changes becomes a new version of the dataset with a hash of its own; the versions "
    "before\n"
    "stay, and runs on them go on undisturbed (data.version). No slide is read again.\n"
    "An annotation that is named as an image replaces that of the label set, or adds it. An empty\n"
    "field of the table leaves what is stored, and - clears it (of slides annotation, grades and\n"
    "negative, of volumes labels). Class sets come by `headrace ingest` alone.\n"
    "\n"
    "Examples:\n"
    "  headrace ingest labels cohort.zarr --annotations qupath/\n"
    "  headrace ingest labels cohort.zarr --annotations reader2/ --set reader2 --message \"round "
    "2\"\n"
    "  headrace ingest labels cohort.zarr --table splits.csv\n"
    "  headrace ingest labels cohort.zarr --withdraw slide-7,slide-9\n"
    "  headrace ingest labels ct.zarr --labels masks/ --classes background,liver,tumour\n"
    "\n"
    "Exit codes: 0 done (also when nothing changed), 1 failed, 2 usage, 4 an input is damaged.";

void print(const ingest::LabelIngestResult& result, bool json) {
  if (json) {
    fmt::print("{}", dump_json(ingest::report_of(result)));
    return;
  }
  for (const auto& note : result.notes) fmt::print("{}\n", note);
  print_annotations(result.annotations);
  print_findings(result.report, result.unused);
  fmt::print(
      "labels: {} added, {} replaced, {} withdrawn, {} unchanged; {} fields and {} classes\n",
      result.added, result.replaced, result.withdrawn, result.unchanged, result.columns,
      result.classes_added);
  fmt::print("wrote {:.1f} KB of labels and {:.1f} KB of the version in {:.2f} s\n",
             static_cast<double>(result.label_bytes) / 1e3,
             static_cast<double>(result.version_bytes) / 1e3, result.seconds);
  if (result.before == result.after) {
    fmt::print("nothing changed: dataset hash {}\n", result.after);
  } else {
    fmt::print("dataset hash {}\nwas {}\n", result.after, result.before);
  }
}

}  // namespace

void add_ingest_labels(Command ingest) {
  Command app = ingest.subcommand(
      "labels", "Other annotations, classes, splits or columns of a store, as a new version.");
  app.footer(kFooter);
  struct Arguments {
    ingest::LabelIngestOptions options;
    bool json = false;
  };
  auto arguments = std::make_shared<Arguments>();
  add_options(app, ingest::options_of(arguments->options));
  app.flag("--json", arguments->json, "print one JSON object");
  app.callback([arguments] { print(ingest::ingest_labels(arguments->options), arguments->json); });
}

}  // namespace headrace::cli
