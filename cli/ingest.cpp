#include <fmt/format.h>

#include <cstdio>
#include <memory>

#include "cli/commands.hpp"
#include "cli/described_options.hpp"
#include "cli/ingest_findings.hpp"
#include "cli/ingest_kinds.hpp"
#include "cli/left_out.hpp"
#include "headrace/core/json.hpp"
#include "headrace/ingest/ingest_report.hpp"
#include "headrace/ingest/inputs/common_options.hpp"
#include "headrace/ingest/slide/slide_ingest_options.hpp"
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
  fmt::print("stored {:.1f} MB for {:.1f} MB of source files: {:.2f} times; ",
             megabytes(result.stored_bytes), megabytes(result.source_bytes), ratio);
  if (result.referenced_slides > 0) {
    fmt::print("the files keep the pixels, and must stay as they are\n");
  } else {
    fmt::print("{:.0f} % of it copied as it was\n", 100 * copied);
  }
  if (result.averaged_slides > 0) {
    fmt::print(
        "{} of them lack the level of half the size: it is averaged of level 0 whenever it is "
        "read, for about 4 times the CPU\n",
        result.averaged_slides);
  }
  if (result.jpeg2000_slides > 0) {
    fmt::print(
        "{} of them keep their JPEG 2000 tiles: batches take about 12 times the CPU of --codec "
        "blosc-zstd, which stores about 10 times as much\n",
        result.jpeg2000_slides);
  }
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
  if (options.mpp == 0.0) options.mpp.reset();  // 0 on the command line states none
  options.device = device.get();
  print(ingest::ingest_slides(options), device ? "cuda" : "cpu", arguments.json);
}

void add_slides(Command parent) {
  Command app =
      parent.subcommand("slides", "Slides and images of tissue, with masks, to an OME-Zarr store.");
  app.footer(kSlidesFooter);
  auto arguments = std::make_shared<SlidesArguments>();
  add_options(app, ingest::options_of(arguments->options));
  app.flag("--json", arguments->json, "print one JSON object");
  add_options(app, {ingest::device_option(arguments->device)});
  app.callback([arguments] { ingest_with(*arguments); });
}

}  // namespace

void add_ingest(Command app) {
  Command ingest = app.subcommand(
      "ingest",
      "Turns slides or volumes into a store that training reads, and gives it other labels.");
  ingest.require_subcommand();
  add_slides(ingest);
  add_ingest_volumes(ingest);
  add_ingest_labels(ingest);
  add_ingest_files(ingest);
}

}  // namespace headrace::cli
