#include <fmt/format.h>

#include <memory>

#include "cli/described_options.hpp"
#include "cli/ingest_findings.hpp"
#include "cli/ingest_kinds.hpp"
#include "cli/left_out.hpp"
#include "headrace/core/json.hpp"
#include "headrace/ingest/ingest_report.hpp"
#include "headrace/ingest/inputs/common_options.hpp"
#include "headrace/ingest/volume/volume_ingest_options.hpp"
#include "headrace/pixels/statistics/choose_statistics.hpp"

namespace headrace::cli {
namespace {

constexpr const char* kFooter =
    "Examples:\n"
    "  headrace ingest volumes dicom-export/ --out cohort.zarr --key-file site.key\n"
    "  headrace ingest volumes Task10_Colon/ --out colon.zarr --lesion-classes cancer\n"
    "  headrace ingest volumes ct/*.nii.gz --labels masks/ --classes background,liver,tumour --out "
    "ct.zarr --codec blosc-lz4\n"
    "\n"
    "An interrupted run is finished by running it again. Of DICOM no name, identifier, date or "
    "text enters the store:\n"
    "patients and studies are named by a hash with the key file's secret. Names in a table and "
    "the stems of other\n"
    "files' names do enter it.\n"
    "Exit codes: 0 done (with --on-error skip also where inputs were left out: they are listed), 1 "
    "failed, 2 usage, 4 an input is damaged.";

double megabytes(std::uint64_t bytes) { return static_cast<double>(bytes) / 1e6; }

void print(const ingest::VolumeIngestResult& result, const char* device, bool json) {
  const double seconds = result.seconds > 0 ? result.seconds : 1e-9;
  const double pixels = result.pixel_bytes > 0 ? static_cast<double>(result.pixel_bytes) : 1.0;
  const double ratio = static_cast<double>(result.stored_bytes) / pixels;
  const double speed = megabytes(result.reused == result.images ? 0 : result.pixel_bytes) / seconds;
  if (json) {
    fmt::print("{}", dump_json(ingest::report_of(result, device)));
    return;
  }
  for (const auto& note : result.notes) fmt::print("{}\n", note);
  fmt::print(
      "{} volumes ({} already there, {} series left out), {:.1f} MB of voxels in {:.1f} s: "
      "{:.0f} MB/s\n",
      result.images, result.reused, result.skipped, megabytes(result.pixel_bytes), result.seconds,
      speed);
  fmt::print("stored {:.1f} MB ({:.2f} of the voxels' bytes) for {:.1f} MB of source files\n",
             megabytes(result.stored_bytes), ratio, megabytes(result.source_bytes));
  print_findings(result.report, result.unused);
  print_left_out(result.left_out);
  fmt::print("dataset hash {}\n", result.dataset_hash);
}

}  // namespace

void add_ingest_volumes(Command parent) {
  Command app = parent.subcommand(
      "volumes", "CT volumes (DICOM, NIfTI, NRRD, MetaImage), with labels, to an OME-Zarr store.");
  app.footer(kFooter);
  struct Arguments {
    ingest::VolumeIngestOptions options;
    device::DeviceChoice device = device::DeviceChoice::cpu;
    bool json = false;
  };
  auto arguments = std::make_shared<Arguments>();
  add_options(app, ingest::options_of(arguments->options));
  app.flag("--json", arguments->json, "print one JSON object");
  add_options(app, {ingest::device_option(arguments->device)});
  app.callback([arguments] {
    const auto device = pixels::open_statistics(arguments->device);
    arguments->options.device = device.get();
    print(ingest::ingest_volumes(arguments->options), device ? "cuda" : "cpu", arguments->json);
  });
}

}  // namespace headrace::cli
