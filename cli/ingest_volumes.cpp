#include <fmt/format.h>

#include <memory>

#include "cli/accept_option.hpp"
#include "cli/ingest_findings.hpp"
#include "cli/ingest_kinds.hpp"
#include "cli/left_out.hpp"
#include "cli/volume_source_options.hpp"
#include "headrace/core/json.hpp"
#include "headrace/ingest/ingest_report.hpp"
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
  auto& options = arguments->options;
  app.option("INPUT", options.inputs,
             "files, folders and trees of them; nnU-Net's and the Decathlon's folders are "
             "recognised")
      .required();
  app.option("--out", options.out, "the store, a folder ending in .zarr").required();
  app.option(
         "--table", options.table,
         "cohort table (CSV): file, image, case, cohort, scanner, split, phase, negative (1: it "
         "holds no "
         "class above 0; without an annotation all of it is background), series, channel, labels")
      .group("Cohort");
  app.option("--labels", options.labels, "folder of label files, named as the volumes")
      .group("Cohort");
  app.option("--columns", options.columns,
             "further columns of the table, separated by commas, that are kept with the "
             "images: numbers, or texts that identify nobody")
      .separated_by_commas()
      .group("Cohort");
  app.option(
         "--classes", options.classes,
         "class names by label value, separated by commas; NAME=TEXT|TEXT takes texts of DICOM for "
         "it, NAME=5 or NAME=1+2+3 values of masks, ignore=7 the value of what is unknown")
      .separated_by_commas()
      .group("Cohort");
  app.choice("--structure-set", options.structure_set,
             "several structure sets, segmentations or masks of one image with the same class; "
             "newest: by their dates")
      .group("Cohort");
  app.flag("--number-images", options.number_images,
           "images of files are named image-0001, image-0002, … in the order of their names, "
           "which do not enter the store")
      .group("Cohort");
  app.option("--class-sets", options.class_sets,
             "labels that stand for several classes, as lesion=cyst+tumour, separated by "
             "commas; their label "
             "values follow those of the classes in the order of their names")
      .separated_by_commas()
      .group("Cohort");
  app.option("--lesion-classes", options.lesion_classes,
             "classes whose components are lesions; without: all but the first")
      .separated_by_commas()
      .group("Cohort");
  app.option(
         "--channels", options.channels,
         "names of the series of one study that become channels of one volume, in order: of "
         "files named case_0000, case_0001, or contrast phases of DICOM series; PET (a name with "
         "PET or SUV in it, or NAME=SUV) beside CT")
      .separated_by_commas()
      .group("Channels");
  app.choice("--missing-channels", options.missing_channels,
             "images that lack a channel other than the first; zero: it reads as 0 in batches")
      .group("Channels");
  app.flag("--shared-frame", options.shared_frame,
           "files of one image lie in one world (scanned or registered so): channels on other "
           "grids are resampled onto that of the first")
      .group("Channels");
  app.option("--val-fraction", options.val_fraction,
             "share of the cases that nothing puts in a split that go to val")
      .shows_default()
      .group("Cohort");
  app.option("--key-file", options.key_file,
             "secret of the site for pseudonyms, at least 16 bytes; without: one is made and "
             "kept beside the store")
      .group("Cohort");
  add_volume_source_options(app, options, "Sources");
  app.choice("--codec", options.codec,
             "blosc-zstd is smaller, blosc-lz4 is read faster; all are lossless")
      .group("Store");
  app.option("--chunk", options.chunk, "edge of a chunk in voxels; 0: the default")
      .shows_default()
      .group("Store");
  app.option("--shard", options.shard, "edge of a shard (one file) in voxels; 0: near 192")
      .shows_default()
      .group("Store");
  app.option("--align", options.align,
             "chunks of images begin at multiples of this many bytes of their file, a power of "
             "two up to 65536; 0: anywhere. 4096 for reading by GPUDirect, with --codec zstd")
      .shows_default()
      .group("Store");
  app.option("--clevel", options.clevel,
             "effort of the compressor, 0 to 9 (zstd: 22); -1: the codec's default")
      .shows_default()
      .group("Store");
  app.option("--jobs", options.jobs, "threads; 0: every core; the store is the same for any number")
      .shows_default();
  add_on_error_option(app, options.on_error);
  add_accept_option(app, options.accept);
  app.flag("--json", arguments->json, "print one JSON object");
  add_device_option(app, arguments->device);
  app.callback([arguments] {
    const auto device = pixels::open_statistics(arguments->device);
    arguments->options.device = device.get();
    print(ingest::ingest_volumes(arguments->options), device ? "cuda" : "cpu", arguments->json);
  });
}

}  // namespace headrace::cli
