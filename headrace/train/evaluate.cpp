#include "headrace/train/evaluate.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "headrace/core/error.hpp"
#include "headrace/core/progress.hpp"
#include "headrace/loader/level_choice.hpp"
#include "headrace/loader/sample_plan.hpp"
#include "headrace/train/stitcher.hpp"
#include "headrace/train/tally.hpp"

namespace headrace::train {
namespace {

/// Size of an image in pixels at the patch's mpp: what the tiles cover.
std::array<std::int64_t, 3> extent_at_patch_mpp(const source::ImageRecord& record,
                                                const loader::RunConfig& config) {
  const auto mpp = loader::level_mpp_yx(record, 0, config);
  const auto edge = [&](std::int64_t pixels, double level_mpp) {
    return std::max<std::int64_t>(
        1, static_cast<std::int64_t>(
               std::ceil(static_cast<double>(pixels) / (config.patch.mpp / level_mpp))));
  };
  const source::ImageLevel& level = record.levels.front();
  return {1, edge(level.height, mpp[0]), edge(level.width, mpp[1])};
}

/// The model's input as a picture: the run's normalisation undone, context 1.
imaging::Image8 picture(const loader::Batch& batch, std::int64_t sample,
                        const loader::RunConfig& config) {
  transform::NormalizeSpec normalize;
  for (const auto& spec : config.transforms) {
    if (const auto* found = std::get_if<transform::NormalizeSpec>(&spec)) normalize = *found;
  }
  const std::int64_t plane = batch.height * batch.width;
  const float* source = batch.images + sample * batch.contexts * 3 * plane;
  imaging::Image8 image(batch.height, batch.width, 3);
  for (std::size_t c = 0; c < 3; ++c) {
    for (std::int64_t i = 0; i < plane; ++i) {
      const double value =
          source[static_cast<std::int64_t>(c) * plane + i] * normalize.std[c] + normalize.mean[c];
      image.pixels[static_cast<std::size_t>(i) * 3 + c] =
          static_cast<std::uint8_t>(std::lround(std::clamp(value, 0.0, 1.0) * 255));
    }
  }
  return image;
}

std::vector<std::uint8_t> most_probable(const float* probabilities, std::size_t classes,
                                        std::size_t plane) {
  std::vector<std::uint8_t> out(plane, 0);
  for (std::size_t i = 0; i < plane; ++i) {
    for (std::size_t c = 1; c < classes; ++c) {
      if (probabilities[c * plane + i] > probabilities[out[i] * plane + i]) {
        out[i] = static_cast<std::uint8_t>(c);
      }
    }
  }
  return out;
}

/// Keeps one patch of each equal part of the tiles: the one whose truth has most classes.
class MontagePicker {
 public:
  MontagePicker(std::size_t count, std::uint64_t tiles, const source::Cohort& cohort,
                const loader::RunConfig& config)
      : tiles_(tiles),
        cohort_(cohort),
        config_(config),
        kept_(std::min<std::uint64_t>(count, tiles)) {}

  void offer(const loader::Batch& batch, std::int64_t sample, const float* probabilities) {
    if (kept_.empty()) return;
    const loader::SampleSite& site = batch.sites[static_cast<std::size_t>(sample)];
    Kept& slot = kept_[std::min<std::size_t>(site.index * kept_.size() / tiles_, kept_.size() - 1)];
    const auto plane = static_cast<std::size_t>(batch.height * batch.width);
    const std::uint8_t* truth = batch.labels + static_cast<std::size_t>(sample) * plane;
    std::array<std::uint64_t, 256> seen{};
    for (std::size_t i = 0; i < plane; ++i) ++seen[truth[i]];
    const std::size_t classes = cohort_.classes().size();
    // A class counts from one part in a hundred on; class 0 does not.
    const auto score =
        std::count_if(seen.begin() + 1, seen.begin() + static_cast<std::ptrdiff_t>(classes),
                      [&](std::uint64_t n) { return n * 100 > plane; });
    if (score <= slot.score) return;
    slot.score = score;
    slot.patch = {cohort_.images()[site.image].id,
                  site.tile_yx,
                  picture(batch, sample, config_),
                  {truth, truth + plane},
                  most_probable(probabilities, classes, plane)};
  }

  std::vector<MontagePatch> take() {
    std::vector<MontagePatch> out;
    for (Kept& kept : kept_) {
      if (kept.score >= 0) out.push_back(std::move(kept.patch));
    }
    return out;
  }

 private:
  struct Kept {
    std::ptrdiff_t score = -1;
    MontagePatch patch;
  };
  std::uint64_t tiles_;
  const source::Cohort& cohort_;
  const loader::RunConfig& config_;
  std::vector<Kept> kept_;
};

}  // namespace

Evaluation evaluate(Network& network, const std::shared_ptr<const source::Cohort>& cohort,
                    const loader::RunConfig& config, const EvaluateOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  const auto plan = loader::make_tile_plan(*cohort, config, options.split);
  loader::Loader loader(cohort, config, plan, /*with_labels=*/true);
  const std::size_t classes = cohort->classes().size();
  Tally tally(*cohort, config);
  MontagePicker montage(options.montage, plan->samples_per_epoch(), *cohort, config);
  const auto overlap_px =
      std::llround(std::min(config.patch.height, config.patch.width) * config.eval.overlap);
  Stitcher stitcher(
      static_cast<std::int64_t>(classes), {1, config.patch.height, config.patch.width},
      {1, overlap_px, overlap_px},
      [&](std::uint32_t image) { return extent_at_patch_mpp(cohort->images()[image], config); },
      [&](const StitchedPart& row) { tally.add(row); });
  Progress progress("evaluate " + options.split, plan->samples_per_epoch(), "tiles");
  while (const auto batch = loader.next()) {
    const std::span<const float> probabilities = network.predict(*batch);
    const std::int64_t plane = batch->height * batch->width;
    for (std::int64_t s = 0; s < batch->samples; ++s) {
      const loader::SampleSite& site = batch->sites[static_cast<std::size_t>(s)];
      const float* sample = probabilities.data() + s * static_cast<std::int64_t>(classes) * plane;
      stitcher.add(
          {site.image, {0, site.tile_yx[0], site.tile_yx[1]}, sample, batch->labels + s * plane});
      montage.offer(*batch, s, sample);
    }
    progress.advance(static_cast<std::uint64_t>(batch->samples));
  }
  stitcher.finish();

  Evaluation out;
  out.json = tally.to_json();
  out.json["split"] = options.split;
  out.json["task"] = config.task;
  out.json["dataset_hash"] = cohort->dataset_hash();
  out.json["tiles"] = plan->samples_per_epoch();
  out.json["patch"] = config.to_json()["patch"];
  out.montage = montage.take();
  out.loader = loader.stats();
  out.mean_dice = tally.mean_dice();
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - start;
  out.json["time"] = {{"wall_s", wall.count()}, {"data_wait_s", out.loader.data_wait_s}};
  return out;
}

std::string slides_csv(const Json& evaluation) {
  const auto cell = [](const Json& value) {
    if (value.is_null()) return std::string();
    if (!value.is_string()) return value.dump();
    std::string text = value.get<std::string>();
    if (text.find_first_of(",\"\n") == std::string::npos) return text;
    for (std::size_t at = 0; (at = text.find('"', at)) != std::string::npos; at += 2)
      text.insert(at, "\"");
    return "\"" + text + "\"";
  };
  const bool gleason = evaluation.at("task") == "gleason";
  std::string out = "id,case,cohort,scanner,pixels,mean_dice";
  for (const auto& name : evaluation.at("classes")) out += ",dice_" + name.get<std::string>();
  if (gleason) {
    out += ",true_primary,true_secondary,true_grade_group,primary,secondary,grade_group";
  }
  out += "\n";
  for (const Json& image : evaluation.at("images")) {
    for (const char* key : {"id", "case", "cohort", "scanner", "pixels", "mean_dice"}) {
      out += (key == std::string("id") ? "" : ",") + cell(image.at(key));
    }
    for (const auto& name : evaluation.at("classes")) {
      out += "," + cell(image.at("dice").at(name.get<std::string>()));
    }
    for (const char* grade : {"true_grade", "predicted_grade"}) {
      for (const char* key : {"primary", "secondary", "grade_group"}) {
        if (gleason)
          out += "," + cell(image.at(grade).is_null() ? Json() : image.at(grade).at(key));
      }
    }
    out += "\n";
  }
  return out;
}

}  // namespace headrace::train
