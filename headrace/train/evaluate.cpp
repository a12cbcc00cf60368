#include "headrace/train/evaluate.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "headrace/core/progress.hpp"
#include "headrace/loader/sample_plan.hpp"
#include "headrace/train/examiner.hpp"

namespace headrace::train {

Evaluation evaluate(Network& network, const std::shared_ptr<const source::Cohort>& cohort,
                    const loader::RunConfig& config, const EvaluateOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  const auto plan = loader::make_tile_plan(*cohort, config, options.split);
  // Labels are counted on the host, and pictures are made there.
  loader::RunConfig on_host = config;
  on_host.loader.device = "cpu";
  on_host.loader.element = "float32";
  on_host.loader.layout = "channels_first";
  on_host.loader.decode = "cpu";
  on_host.loader.gpudirect = "off";
  loader::Loader loader(cohort, on_host, plan, /*with_labels=*/true);
  const auto examiner = (config.volumes ? make_volume_examiner : make_slide_examiner)(
      *cohort, config, options, plan->samples_per_epoch());
  const auto tile = examiner->tile_zyx();
  // Of slides both axes share what the shorter edge shares.
  const std::int64_t shortest = std::min(tile[1], tile[2]);
  Examiner::Axes overlap{};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const auto edge = static_cast<double>(config.volumes ? tile[axis] : shortest);
    overlap[axis] = std::llround(edge * config.eval.overlap);
  }
  const auto classes = static_cast<std::int64_t>(cohort->classes().size());
  Stitcher stitcher(
      classes, tile, overlap, [&](std::uint32_t image) { return examiner->extent_zyx(image); },
      [&](const StitchedPart& part) { examiner->add(part); });
  Progress progress("evaluate " + options.split, plan->samples_per_epoch(), "tiles");
  while (const auto batch = loader.next()) {
    const std::span<const float> probabilities = network.predict(*batch);
    const std::int64_t pixels = tile[0] * tile[1] * tile[2];
    for (std::int64_t s = 0; s < batch->samples; ++s) {
      const loader::SampleSite& site = batch->sites[static_cast<std::size_t>(s)];
      const float* sample = probabilities.data() + s * classes * pixels;
      stitcher.add({site.image,
                    {site.tile_z, site.tile_yx[0], site.tile_yx[1]},
                    sample,
                    batch->labels + s * pixels});
      examiner->offer(*batch, s, sample);
    }
    progress.advance(static_cast<std::uint64_t>(batch->samples));
  }
  stitcher.finish();

  Evaluation out;
  examiner->finish(out);
  out.json["split"] = options.split;
  out.json["task"] = config.task;
  out.json["dataset_hash"] = cohort->dataset_hash();
  out.json["tiles"] = plan->samples_per_epoch();
  out.json["patch"] = config.to_json()["patch"];
  out.loader = loader.stats();
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - start;
  out.json["time"] = {{"wall_s", wall.count()}, {"data_wait_s", out.loader.data_wait_s}};
  return out;
}

}  // namespace headrace::train
