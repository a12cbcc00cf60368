#include <fmt/format.h>

#include <cstdio>
#include <memory>
#include <vector>

#include "cli/commands.hpp"
#include "headrace/core/json.hpp"
#include "headrace/phantom/slide_cohort.hpp"
#include "headrace/phantom/volume_cohort.hpp"

namespace headrace::cli {
namespace {

struct PhantomOptions {
  phantom::SlideCohortOptions cohort;
  int jobs = 0;
  bool json = false;
};

void render_slides(const PhantomOptions& options) {
  ThreadPool pool(options.jobs);
  const auto result = phantom::write_slide_cohort(options.cohort, pool);
  const double mpix = static_cast<double>(result.pixels) / 1e6;
  if (options.json) {
    const Json json{{"slides", result.slides},
                    {"pixels", result.pixels},
                    {"bytes", result.bytes},
                    {"seconds", result.seconds},
                    {"mpix_per_s", mpix / result.seconds},
                    {"table", result.table}};
    std::fputs(dump_json(json).c_str(), stdout);
    return;
  }
  fmt::print("{} slides, {:.1f} Mpixel, {:.1f} MB in {:.1f} s ({:.1f} Mpixel/s)\n{}\n",
             result.slides, mpix, static_cast<double>(result.bytes) / 1e6, result.seconds,
             mpix / result.seconds, result.table);
}

struct VolumeOptions {
  phantom::VolumeCohortOptions cohort;
  std::vector<double> lesion_mm{12, 42};
  int jobs = 0;
  bool json = false;
};

void render_volumes(VolumeOptions options) {
  options.cohort.lesion_min_mm = options.lesion_mm[0];
  options.cohort.lesion_max_mm = options.lesion_mm[1];
  ThreadPool pool(options.jobs);
  const auto result = phantom::write_volume_cohort(options.cohort, pool);
  const double mvox = static_cast<double>(result.voxels) / 1e6;
  if (options.json) {
    const Json json{{"patients", result.patients},
                    {"volumes", result.volumes},
                    {"lesions", result.lesions},
                    {"voxels", result.voxels},
                    {"bytes", result.bytes},
                    {"seconds", result.seconds},
                    {"mvoxel_per_s", mvox / result.seconds},
                    {"table", result.table}};
    std::fputs(dump_json(json).c_str(), stdout);
    return;
  }
  fmt::print(
      "{} patients, {} volumes, {} lesions, {:.1f} Mvoxel, {:.1f} MB in {:.1f} s ({:.1f} "
      "Mvoxel/s)\n{}\n",
      result.patients, result.volumes, result.lesions, mvox,
      static_cast<double>(result.bytes) / 1e6, result.seconds, mvox / result.seconds, result.table);
}

void add_volumes(Command phantom) {
  Command volumes = phantom.subcommand(
      "volumes", "CT-like bodies with planted lesions of known size in the wall of the colon");
  auto options = std::make_shared<VolumeOptions>();
  auto& cohort = options->cohort;
  volumes
      .option("--out", cohort.out,
              "folder to write: images/, labels/, cases.csv, lesions.csv, classes.txt")
      .required();
  volumes.option("--count", cohort.count, "patients; every third is for validation")
      .shows_default();
  volumes.option("--size", cohort.size, "pixels a side of the 400 mm field of view, 48 to 1024")
      .shows_default();
  volumes
      .option("--slices", cohort.slices,
              "slices over the 440 mm of the body, 16 to 2000; 0: by the scanner's slice "
              "thickness, 1 to 5 mm")
      .shows_default();
  volumes
      .option("--phases", cohort.phases,
              "1: portal-venous; 2: arterial too; 3: native too; 4: delayed too")
      .shows_default();
  volumes
      .option("--scanners", cohort.scanners,
              "scanners with their own slice thickness, kernel, noise and calibration, 1 to "
              "64; each is a cohort")
      .shows_default();
  volumes
      .option("--lesion-mm", options->lesion_mm,
              "smallest and largest diameter of the sphere of a lesion's volume, 4 to 60")
      .takes(2)
      .separated_by_commas()
      .shows_default();
  volumes.option("--seed", cohort.seed, "the same seed gives the same files").shows_default();
  volumes.option("--jobs", options->jobs, "threads; 0: one a core").shows_default();
  volumes.flag("--json", options->json, "print one JSON object");
  volumes.footer(
      "Examples:\n"
      "  headrace phantom volumes --out cohort --count 12 --size 128 --phases 3 --seed 7\n"
      "  headrace ingest volumes cohort/images --table cohort/cases.csv --out cohort.zarr\n"
      "Phantoms prove the path, its speed and its scale, not a model's worth in the clinic.");
  volumes.callback([options] { render_volumes(*options); });
}

}  // namespace

void add_phantom(Command app) {
  Command phantom = app.subcommand("phantom", "Render a labelled synthetic cohort");
  phantom.require_subcommand();
  add_volumes(phantom);
  Command slides =
      phantom.subcommand("slides", "Prostate-like H&E slides with exact Gleason masks");
  auto options = std::make_shared<PhantomOptions>();
  auto& cohort = options->cohort;
  slides.option("--out", cohort.out, "folder to write: slides/, masks/, cases.csv, classes.txt")
      .required();
  slides.option("--count", cohort.count, "slides; two make a case").shows_default();
  slides.option("--size", cohort.size, "pixels a side, 256 to 200000").shows_default();
  slides
      .option("--scanners", cohort.scanners,
              "scanners with their own stain, white, blur and noise, 1 to 64")
      .shows_default();
  slides.option("--seed", cohort.seed, "the same seed gives the same files").shows_default();
  slides.option("--mpp", cohort.mpp, "micrometres a pixel, 0.1 to 4").shows_default();
  slides.option("--jobs", options->jobs, "threads; 0: one a core").shows_default();
  slides.flag("--json", options->json, "print one JSON object");
  slides.footer(
      "Examples:\n"
      "  headrace phantom slides --out cohort --count 12 --size 3000 --scanners 2 --seed 7\n"
      "  headrace ingest slides cohort/slides --table cohort/cases.csv --out cohort.zarr\n"
      "Phantoms prove the path, its speed and its scale, not a model's worth in the clinic.");
  slides.callback([options] { render_slides(*options); });
}

}  // namespace headrace::cli
