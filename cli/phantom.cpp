#include "headrace/phantom/slide_cohort.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <memory>

#include "cli/commands.hpp"
#include "headrace/core/json.hpp"

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

}  // namespace

void add_phantom(CLI::App& app) {
  CLI::App* phantom = app.add_subcommand("phantom", "Render a labelled synthetic cohort");
  phantom->require_subcommand(1);
  CLI::App* slides =
      phantom->add_subcommand("slides", "Prostate-like H&E slides with exact Gleason masks");
  auto options = std::make_shared<PhantomOptions>();
  auto& cohort = options->cohort;
  slides
      ->add_option("--out", cohort.out, "folder to write: slides/, masks/, cases.csv, classes.txt")
      ->required();
  slides->add_option("--count", cohort.count, "slides; two make a case")->capture_default_str();
  slides->add_option("--size", cohort.size, "pixels a side, 256 to 200000")->capture_default_str();
  slides
      ->add_option("--scanners", cohort.scanners,
                   "scanners with their own stain, white, blur and noise, 1 to 64")
      ->capture_default_str();
  slides->add_option("--seed", cohort.seed, "the same seed gives the same files")
      ->capture_default_str();
  slides->add_option("--mpp", cohort.mpp, "micrometres a pixel, 0.1 to 4")->capture_default_str();
  slides->add_option("--jobs", options->jobs, "threads; 0: one a core")->capture_default_str();
  slides->add_flag("--json", options->json, "print one JSON object");
  slides->footer(
      "Examples:\n"
      "  headrace phantom slides --out cohort --count 12 --size 3000 --scanners 2 --seed 7\n"
      "  headrace ingest slides cohort/slides --table cohort/cases.csv --out cohort.zarr\n"
      "Phantoms prove the path, its speed and its scale, not a model's worth in the clinic.");
  slides->callback([options] { render_slides(*options); });
}

}  // namespace headrace::cli
