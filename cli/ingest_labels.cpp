#include <fmt/format.h>

#include <memory>

#include "cli/accept_option.hpp"
#include "cli/ingest_findings.hpp"
#include "cli/ingest_kinds.hpp"
#include "headrace/core/json.hpp"
#include "headrace/ingest/ingest_report.hpp"

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
  auto& options = arguments->options;
  app.option("STORE", options.store, "the store's folder").required();
  app.option(
      "--table", options.table,
      "CSV with the column image (or file), and any of case, cohort, scanner, split, "
      "primary, secondary, grade_group, gleason, isup_grade, negative (1: it holds no class above "
      "0; without an annotation all of it is background), annotation, coding; of "
      "volumes case, cohort, scanner, split, phase, negative, labels");
  app.option(
      "--annotations,--labels", options.annotations,
      "folder of label files named as the images, or with _mask after it: masks, GeoJSON, XML of "
      "ASAP; "
      "of volumes NIfTI, NRRD, MetaImage, DICOM SEG, RTSTRUCT");
  app.option("--set", options.set, "the label set that they are of: a reader, a round, consensus")
      .shows_default();
  app.option("--columns", options.columns,
             "further columns of the table, separated by commas, that are kept with the "
             "images: numbers, or texts that identify nobody")
      .separated_by_commas();
  app.option(
         "--classes", options.classes,
         "class names by label value: those of the store, and new ones after them; of volumes also "
         "NAME=5 or NAME=1+2+3 for the values of masks, in any order, and ignore=7")
      .separated_by_commas();
  app.choice("--structure-set", options.structure_set,
             "several structure sets, segmentations or masks of one volume with the same class; "
             "newest: by their dates");
  app.choices("--objects", options.objects,
              "which objects of QuPath's GeoJSON are painted, separated by commas");
  app.choice("--coding", options.coding, "what values of mask images mean");
  app.option("--withdraw", options.withdraw,
             "images, separated by commas, whose labels of the set go; all: of every image")
      .separated_by_commas();
  app.option("--message", options.message, "what the log of versions says of it");
  app.option("--key-file", options.key, "file of the site's key, for DICOM labels (STORE.key)");
  add_accept_option(app, options.accept);
  app.option("--jobs", options.jobs, "threads; 0: every core").shows_default();
  app.flag("--json", arguments->json, "print one JSON object");
  app.callback([arguments] { print(ingest::ingest_labels(arguments->options), arguments->json); });
}

}  // namespace headrace::cli
