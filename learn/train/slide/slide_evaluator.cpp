#include <algorithm>
#include <cmath>
#include <optional>

#include "headrace/loader/plan/level_choice.hpp"
#include "headrace/loader/plan/tile_corners.hpp"
#include "headrace/transform/slide/slide_spec.hpp"
#include "learn/config/figure_rules.hpp"
#include "learn/inference/patch_grid.hpp"
#include "learn/measure/slide/slide_metrics.hpp"
#include "learn/report/overlay.hpp"
#include "learn/train/evaluate/evaluator.hpp"
#include "learn/train/slide/slide_examples.hpp"
#include "learn/train/slide/slide_tally.hpp"

namespace headrace::train {
namespace {

/// The model's input as a picture: the run's normalisation undone, context 1 of the first sample.
pixels::Image8 picture(const loader::Batch& batch, const config::RunConfig& config) {
  transform::NormalizeSpec normalize;
  for (const auto& spec : config.transforms) {
    if (const auto* found = std::get_if<transform::NormalizeSpec>(&spec)) normalize = *found;
  }
  const std::int64_t plane = batch.height * batch.width;
  const float* source = batch.floats();
  pixels::Image8 image(batch.height, batch.width, 3);
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

/// How many classes but the first a patch shows; a class counts from one part in a hundred on.
double classes_seen(std::span<const std::uint8_t> truth, std::size_t classes) {
  std::array<std::uint64_t, 256> seen{};
  for (const std::uint8_t label : truth) ++seen[label];
  return static_cast<double>(
      std::count_if(seen.begin() + 1, seen.begin() + static_cast<std::ptrdiff_t>(classes),
                    [&](std::uint64_t n) { return n * 100 > truth.size(); }));
}

measure::SlideFacts facts_of(const cohort::ImageRecord& record) {
  return {image_facts(record), {record.primary, record.secondary, record.grade_group}};
}

class SlideEvaluator : public Evaluator {
 public:
  SlideEvaluator(const cohort::Cohort& cohort, const config::RunConfig& config,
                 const EvaluateOptions& options, std::uint64_t tiles)
      : cohort_(cohort),
        config_(config),
        metrics_(config::slide_rules(config::judged_classes(cohort), config),
                 options.intervals ? config.eval.bootstrap : 0, config.sampling.seed),
        meter_(metrics_.rules()),
        montage_(options.montage, tiles),
        pictures_(options.montage > 0) {}

  /// Pixels are counted where they are blended; structures need rows on the host.
  inference::PartUse part_use() override {
    tally_.emplace(metrics_.rules());
    inference::PartUse use{.truth = true};
    use.look = [this](const inference::PartTensors& parts) { tally_->add(parts); };
    return use;
  }

  void add(const inference::StitchedPart& row) override {
    if (image_ && *image_ != row.image) finish_slide();
    if (pictures_) add_to_overview(row);
    image_ = row.image;
    const std::string& id = cohort_.images()[row.image].id;
    if (row.probabilities.empty()) {
      meter_.add_structures({row.at, row.predicted, row.truth, {}}, id);
    } else {
      meter_.add({row.at, row.predicted, row.truth, row.probabilities}, id);
    }
  }

  void offer(const OfferedTile& tile) override {
    const loader::SampleSite& site = tile.site;
    const std::size_t classes = cohort_.classes().size();
    const double score = classes_seen(tile.truth, classes);
    if (!montage_.wants(site.index, score)) return;
    const pixels::Image8 seen = picture(tile.images(), config_);
    const auto predicted = most_probable(tile.probabilities().data(), classes, tile.truth.size());
    montage_.keep(site.index, score,
                  {cohort_.images()[site.image].id,
                   {0, site.tile_yx[0], site.tile_yx[1]},
                   {{"input", seen},
                    {"truth", report::overlay(seen, tile.truth)},
                    {"prediction", report::overlay(seen, predicted)}}});
  }

  void finish(Evaluation& out) override {
    if (image_) finish_slide();
    out.json = metrics_.to_json();
    out.mean_dice = metrics_.dice_to_choose_by();
    out.montage = montage_.take();
    // Labels that are only class sets tell tumour from the rest, and no class from another.
    const bool by_classes = !by_dice_.empty();
    for (const auto& example : (by_classes ? by_dice_ : by_tumour_).chosen()) {
      ExamplePictures pictures = slide_pictures(cohort_, *example.image);
      pictures.figure = by_classes                ? "Mean Dice"
                        : metrics_.rules().stated ? "Tumour Dice"
                                                  : "Foreground Dice";
      out.add_example(example, std::move(pictures));
    }
  }

 private:
  void add_to_overview(const inference::StitchedPart& row) {
    if (image_ != row.image) {
      const auto extent = inference::extent_zyx(cohort_.images()[row.image], config_);
      overview_.start(extent[1], extent[2]);
    }
    overview_.add(row);
  }

  void offer_example(const measure::SlideCounts& counts) {
    const std::string& id = cohort_.images()[*image_].id;
    const auto mean = counts.confusion.mean_dice(), tumour = counts.tumour.dice(1);
    const bool first = mean && by_dice_.wants(*mean, id),
               second = tumour && by_tumour_.wants(*tumour, id);
    if (!first && !second) {
      if (mean) by_dice_.pass();
      if (tumour) by_tumour_.pass();
      return;
    }
    ShownImage image{*image_, id, 0, overview_.take(), {}, 0, 0};
    const auto offer = [&](ExampleKeeper& keeper, const std::optional<double>& value) {
      if (!value) return;
      image.value = *value;
      keeper.offer(image);
    };
    offer(by_dice_, mean);
    offer(by_tumour_, tumour);
  }

  void finish_slide() {
    if (tally_) meter_.add_counts(tally_->take(*image_));
    measure::SlideCounts counts = meter_.finish();
    if (pictures_) offer_example(counts);
    metrics_.add(*image_, facts_of(cohort_.images()[*image_]), std::move(counts),
                 meter_.exact_scores());
    image_.reset();
  }

  const cohort::Cohort& cohort_;
  const config::RunConfig& config_;
  measure::SlideMetrics metrics_;
  measure::SlideMeter meter_;
  std::optional<SlideTally> tally_;     ///< where parts are blended with the model
  std::optional<std::uint32_t> image_;  ///< whose rows come
  MontageSlots montage_;
  bool pictures_;
  SlideOverview overview_;
  ExampleKeeper by_dice_, by_tumour_;
};

}  // namespace

std::unique_ptr<Evaluator> make_slide_evaluator(const cohort::Cohort& cohort,
                                                const config::RunConfig& config,
                                                const EvaluateOptions& options,
                                                std::uint64_t tiles) {
  return std::make_unique<SlideEvaluator>(cohort, config, options, tiles);
}

}  // namespace headrace::train
