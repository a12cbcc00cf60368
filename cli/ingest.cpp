#include <fmt/format.h>

#include <cstdio>
#include <memory>

#include "cli/accept_option.hpp"
#include "cli/commands.hpp"
#include "cli/ingest_findings.hpp"
#include "cli/ingest_kinds.hpp"
#include "cli/left_out.hpp"
#include "headrace/core/json.hpp"
#include "headrace/ingest/ingest_report.hpp"
#include "headrace/pixels/statistics/choose_statistics.hpp"

namespace headrace::cli {
namespace {

constexpr const char* kSlidesFooter =
    "Examples:\n"
    "  headrace ingest slides scans/ --table cases.csv --out cohort.zarr\n"
    "  headrace ingest slides a.svs b.svs --annotations qupath/ --classes background,tumour --out "
    "cohort.zarr --codec blosc-zstd\n"
    "\n"
    "An interrupted run is finished by running it again. Files named by a table, or else the stems "
    "of the files' names,\n"
    "become the images' names; nothing else of a file's names, texts, label and macro images "
    "enters the store.\n"
    "Exit codes: 0 done (with --on-error skip also where inputs were left out: they are listed), 1 "
    "failed, 2 usage, 4 an input is damaged.";

struct SlidesArguments {
  ingest::SlideIngestOptions options;
  device::DeviceChoice device = device::DeviceChoice::cpu;
  double mpp = 0;
  bool json = false;
};

double megabytes(std::uint64_t bytes) { return static_cast<double>(bytes) / 1e6; }

void print(const ingest::SlideIngestResult& result, const char* device, bool json) {
  const double seconds = result.seconds > 0 ? result.seconds : 1e-9;
  const double source = result.source_bytes > 0 ? static_cast<double>(result.source_bytes) : 1.0;
  const double stored = result.stored_bytes > 0 ? static_cast<double>(result.stored_bytes) : 1.0;
  const double ratio = static_cast<double>(result.stored_bytes) / source;
  const double copied = static_cast<double>(result.passthrough_bytes) / stored;
  const std::uint64_t fresh_bytes = result.reused == result.images ? 0 : result.pixel_bytes;
  const double speed = megabytes(fresh_bytes) / seconds;
  if (json) {
    fmt::print("{}", dump_json(ingest::report_of(result, device)));
    return;
  }
  fmt::print("{} images ({} already there), {:.1f} MB of pixels in {:.1f} s: {:.0f} MB/s\n",
             result.images, result.reused, megabytes(result.pixel_bytes), result.seconds, speed);
  fmt::print(
      "stored {:.1f} MB for {:.1f} MB of source files: {:.2f} times; {:.0f} % of it copied as it "
      "was\n",
      megabytes(result.stored_bytes), megabytes(result.source_bytes), ratio, 100 * copied);
  if (result.dropped_chunks > 0) {
    fmt::print("{} chunks of level 0 outside the tissue were made white (--drop-glass)\n",
               result.dropped_chunks);
  }
  if (result.associated > 0) {
    fmt::print("{} label, overview and thumbnail files of DICOM slides are left out\n",
               result.associated);
  }
  print_annotations(result.annotations);
  print_findings(result.report, result.unused);
  print_left_out(result.left_out);
  fmt::print("dataset hash {}\n", result.dataset_hash);
}

void ingest_with(const SlidesArguments& arguments) {
  const auto device = pixels::open_statistics(arguments.device);
  ingest::SlideIngestOptions options = arguments.options;
  if (arguments.mpp != 0) options.mpp = arguments.mpp;
  options.device = device.get();
  print(ingest::ingest_slides(options), device ? "cuda" : "cpu", arguments.json);
}

void add_slides(Command parent) {
  Command app =
      parent.subcommand("slides", "Slides and images of tissue, with masks, to an OME-Zarr store.");
  app.footer(kSlidesFooter);
  auto arguments = std::make_shared<SlidesArguments>();
  auto& options = arguments->options;
  app.option("INPUT", options.inputs,
             "slides, images, and folders of them; PANDA's folder is recognised");
  app.option("--out", options.out, "the store, a folder ending in .zarr").required();
  app.option("--table", options.table,
             "cohort table (CSV): file, image, case, cohort, scanner, split, primary, "
             "secondary, grade_group, "
             "gleason, isup_grade, negative (1: it holds no class above 0; without an "
             "annotation all of it is background), annotation, coding, mpp")
      .group("Cohort");
  app.option("--annotations", options.annotations,
             "folder of masks (PNG, TIFF), QuPath GeoJSON and XML of ASAP, named as the images "
             "or with _mask after it (x.png, x_mask.tif, x.svs.geojson)")
      .group("Cohort");
  app.option("--columns", options.columns,
             "further columns of the table, separated by commas, that are kept with the "
             "images: numbers, or texts that identify nobody")
      .separated_by_commas()
      .group("Cohort");
  app.option("--classes", options.classes,
             "class names by label value, separated by commas; tumour=2 and organ=1+2 state "
             "values of masks, tumour=Tumor|_0 other names in files of polygons")
      .separated_by_commas()
      .group("Cohort");
  app.option("--class-sets", options.class_sets,
             "labels that stand for several classes, as cancer=pattern3+pattern4+pattern5, "
             "separated by commas; their label "
             "values follow those of the classes in the order of their names")
      .separated_by_commas()
      .group("Cohort");
  app.choice("--coding", options.coding, "what values of mask images mean").group("Cohort");
  app.choices("--objects", options.objects,
              "which objects of QuPath's GeoJSON are painted, separated by commas")
      .group("Cohort");
  app.option("--val-fraction", options.val_fraction,
             "share of the cases that the table puts in no split that go to val")
      .shows_default()
      .group("Cohort");
  app.option("--mpp", arguments->mpp, "micrometres a pixel, for files that do not say")
      .group("Cohort");
  app.choice("--codec", options.codec,
             "auto copies JPEG tiles where it can, else it is blosc-zstd; jpeg is lossy where it "
             "can't copy")
      .group("Store");
  app.option("--chunk", options.chunk,
             "edge of a chunk in pixels; 0: the codec's default, or the source's tiles")
      .shows_default()
      .group("Store");
  app.option("--shard", options.shard, "edge of a shard (one file) in pixels; 0: near 4096")
      .shows_default()
      .group("Store");
  app.option("--align", options.align,
             "chunks of images begin at multiples of this many bytes of their file, a power of "
             "two up to 65536; 0: anywhere. 4096 for reading by GPUDirect, with --codec zstd")
      .shows_default()
      .group("Store");
  app.option("--clevel", options.clevel, "effort of the compressor, 0 to 9")
      .shows_default()
      .group("Store");
  app.flag("--drop-glass", options.drop_glass,
           "make chunks white that lie wholly outside the tissue; says how many; copies no "
           "JPEG tiles")
      .group("Store");
  app.option("--jobs", options.jobs, "threads; 0: every core; the store is the same for any number")
      .shows_default();
  add_on_error_option(app, options.on_error);
  add_accept_option(app, options.accept);
  app.flag("--json", arguments->json, "print one JSON object");
  add_device_option(app, arguments->device);
  app.callback([arguments] { ingest_with(*arguments); });
}

}  // namespace

void add_on_error_option(Command app, ingest::OnError& on_error) {
  app.choice("--on-error", on_error,
             "inputs that can't be ingested: stop (all are named, nothing is stored), skip (they "
             "are left out and listed)");
}

void add_device_option(Command app, device::DeviceChoice& device) {
  app.choice("--device", device,
             "where masks and statistics are computed: cpu, cuda (a GPU; decoding and encoding "
             "stay with the CPU), auto (a GPU where there is one); the store is the same");
}

void add_ingest(Command app) {
  Command ingest = app.subcommand(
      "ingest",
      "Turns slides or volumes into a store that training reads, and gives it other labels.");
  ingest.require_subcommand();
  add_slides(ingest);
  add_ingest_volumes(ingest);
  add_ingest_labels(ingest);
}

}  // namespace headrace::cli
