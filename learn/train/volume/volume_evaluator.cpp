#include <algorithm>
#include <optional>

#include "headrace/core/error.hpp"
#include "headrace/core/ignore_label.hpp"
#include "headrace/loader/plan/level_choice.hpp"
#include "headrace/loader/plan/tile_corners.hpp"
#include "learn/config/figure_rules.hpp"
#include "learn/inference/patch_grid.hpp"
#include "learn/inference/score_rows.hpp"
#include "learn/inference/tensor_math.hpp"
#include "learn/inference/volume/original_grid.hpp"
#include "learn/inference/volume/predicted_region.hpp"
#include "learn/inference/volume/slice_reader.hpp"
#include "learn/measure/volume/volume_meter.hpp"
#include "learn/measure/volume/volume_metrics.hpp"
#include "learn/train/evaluate/baseline.hpp"
#include "learn/train/evaluate/evaluator.hpp"
#include "learn/train/volume/truth_tensors.hpp"
#include "learn/train/volume/volume_examples.hpp"
#include "learn/train/volume/volume_montage.hpp"
#include "learn/train/volume/volume_tally.hpp"
#include "learn/train/volume/volume_truth.hpp"

namespace headrace::train {
namespace {

measure::VolumeFacts facts_of(const cohort::ImageRecord& record) {
  return {image_facts(record), record.volume->phase, record.volume->affine_lps};
}

measure::VolumeMetrics metrics_of(const cohort::Cohort& cohort, const config::RunConfig& config) {
  const config::JudgedClasses classes = config::judged_classes(cohort);
  return {config::volume_rules(classes, config), config::group_rules(classes, config),
          config.eval.bootstrap, config.sampling.seed};
}

class VolumeEvaluator : public Evaluator {
 public:
  VolumeEvaluator(const cohort::Cohort& cohort, const config::RunConfig& config,
                  const EvaluateOptions& options, std::uint64_t tiles)
      : cohort_(cohort),
        config_(config),
        options_(options),
        metrics_(metrics_of(cohort, config)),
        montage_(options.montage, tiles),
        meter_(metrics_.rules()),
        truth_there_(cohort, config) {
    if (options.baseline != nullptr) knowing_nothing_.emplace(metrics_of(cohort, config));
    const auto lesion = metrics_.rules().lesion_membership();
    for (std::size_t v = 0; v < shown_.size(); ++v) shown_[v] = lesion[v] == Membership::inside;
    // Without lesions to search for, pictures show any class.
    if (metrics_.rules().lesion_classes.empty()) std::fill(shown_.begin() + 1, shown_.end(), true);
    shown_[kIgnoreLabel] = false;
    if (options.montage > 0) slices_.emplace(shown_, metrics_.rules().classes);
  }

  /// Voxels are counted where they are predicted; structures and lesions need the volume on the
  /// host.
  inference::PartUse part_use() override {
    tally_.emplace(metrics_.rules());
    inference::PartUse use{.truth = true};
    if (!metrics_.rules().lesion_classes.empty()) use.score_rows = inference::kScoreRows;
    use.look = [this](inference::PartTensors& slices) { look(slices); };
    return use;
  }

  void add(const inference::StitchedPart& slice) override {
    const bool counted = slice.probabilities.empty();  // there: a slice of level 0
    if (!open_ || slice.image != image_) start(slice.image, counted);
    if (counted ? add_counted(slice) : add_blended(slice)) measure();
  }

  void offer(const OfferedTile& tile) override {
    const loader::SampleSite& site = tile.site;
    const auto score = static_cast<double>(std::count_if(
        tile.truth.begin(), tile.truth.end(), [&](std::uint8_t label) { return shown_[label]; }));
    if (!montage_.wants(site.index, score)) return;
    const loader::Batch images = tile.images();
    ShownPatch shown;
    shown.shape_zyx = inference::tile_zyx(config_);
    shown.spacing_mm_zyx = spacing_of(site.image);
    shown.values = images.floats();  // of the first channel: the labels lie on its grid
    shown.truth = tile.truth.data();
    shown.predicted =
        most_probable(tile.probabilities().data(), metrics_.rules().classes, tile.truth.size());
    shown.shown = shown_;
    MontagePatch patch{cohort_.images()[site.image].id,
                       {site.tile_z, site.tile_yx[0], site.tile_yx[1]},
                       plane_pictures(shown)};
    montage_.keep(site.index, score, std::move(patch));
  }

  void finish(Evaluation& out) override {
    check_finished();
    out.json = metrics_.to_json(options_.intervals);
    if (knowing_nothing_) {
      const Json figures = knowing_nothing_->to_json(false);
      for (const char* group : {"overall", "cohorts", "scanners", "phases"})
        out.json["baseline"][group] = figures.at(group);
      out.json["baseline"]["rule"] = options_.baseline->to_json();
    }
    out.mean_dice = metrics_.mean_dice();
    out.montage = montage_.take();
    for (const auto& example : examples_.chosen()) {
      ExamplePictures pictures = volume_pictures(cohort_, config_, *example.image, example.worst);
      pictures.figure = "Mean Dice";
      out.add_example(example, std::move(pictures));
    }
  }

 private:
  std::array<double, 3> spacing_of(std::uint32_t image) const {
    if (!config_.patch_in_level0_pixels) return config_.volume_patch.spacing_mm_zyx;
    return cohort_.images()[image].volume->levels.front().spacing_mm_zyx;
  }

  measure::VolumeFacts facts() const { return facts_of(cohort_.images()[image_]); }

  std::string context(std::uint32_t image) const { return "image " + cohort_.images()[image].id; }

  void check_finished() const {
    if (open_) fail(ErrorCode::internal, "Image {} was not stitched to its end.", image_);
  }

  /// Of slices on level 0 that are still with the model, before `add` has them.
  void look(inference::PartTensors& slices) {
    with_context(context(slices.image), [&] {
      const auto own =
          truth_there_.of(slices.image, slices.first, slices.means.size(0), slices.means.device());
      slices.truth = own.truth;
      const at::Tensor lesion = tally_->add(slices, own.body);
      if (lesion.defined()) slices.scores = inference::two_rows(lesion);
    });
  }

  void start(std::uint32_t image, bool counted) {
    check_finished();
    open_ = true;
    image_ = image;
    const cohort::ImageRecord& record = cohort_.images()[image];
    const cohort::VolumeLevel& level = record.volume->levels.front();
    if (!counted || knowing_nothing_) {  // else TruthTensors reads them
      truth_.emplace(cohort_, config_, image);
      body_.emplace(cohort_.body_mask(image));
    }
    region_.emplace(cohort_, image, *options_.preprocessing, metrics_.rules().lesion_classes);
    meter_.start(level.shape_zyx, level.spacing_mm_zyx);
    if (slices_) slices_->start(level.shape_zyx);
    if (counted) return;
    grid_.emplace(metrics_.rules().classes, inference::extent_zyx(record, config_), level.shape_zyx,
                  inference::step_zyx(record, config_),
                  [this](std::int64_t z, std::span<const float> probabilities) {
                    const auto truth = truth_->slice(z);
                    meter_.add(probabilities, truth, body_->slice(z));
                    show(z, limited(z), truth);
                  });
  }

  /// The classes of the slice that was added last, which is z, as they are predicted.
  std::span<const std::uint8_t> limited(std::int64_t z) {
    const auto calls = meter_.last_slice();
    region_->limit(z, calls.predicted, calls.lesion, 0);
    return calls.predicted;
  }

  void show(std::int64_t z, std::span<const std::uint8_t> predicted,
            std::span<const std::uint8_t> truth) {
    if (slices_) slices_->add(z, predicted, truth);
  }

  /// A slice of the patch's grid; whether it was the volume's last.
  bool add_blended(const inference::StitchedPart& slice) {
    with_context(context(image_), [&] { grid_->add(slice.probabilities); });
    return grid_->complete();
  }

  /// A slice of level 0, likewise.
  bool add_counted(const inference::StitchedPart& slice) {
    meter_.add_classes(slice.predicted, slice.truth, inference::scores_of_rows(slice.scores));
    show(slice.at, limited(slice.at), slice.truth);
    const auto& level = cohort_.images()[image_].volume->levels.front();
    if (slice.at + 1 < level.shape_zyx[0]) return false;
    meter_.add_counts(tally_->take(image_));
    return true;
  }

  void measure() {
    open_ = false;
    grid_.reset();
    with_context(context(image_), [&] {
      measure::VolumeFigures figures = meter_.finish();
      if (slices_) offer_example(figures.confusion.mean_dice());
      metrics_.add(image_, facts(), std::move(figures));
    });
    if (knowing_nothing_) measure_baseline();
  }

  void offer_example(const std::optional<double>& value) {
    const std::string& id = cohort_.images()[image_].id;
    if (!value) return;
    if (!examples_.wants(*value, id)) return examples_.pass();
    ShownImage shown{image_, id, *value, {}, {}, 0, 0};
    slices_->finish(shown);
    examples_.offer(std::move(shown));
  }

  /// The same measurement of the baseline, which does not look at pixels.
  void measure_baseline() {
    BallSlices balls(*options_.baseline, cohort_, image_);
    const cohort::VolumeLevel& level = cohort_.images()[image_].volume->levels.front();
    meter_.start(level.shape_zyx, level.spacing_mm_zyx);
    for (std::int64_t z = 0; z < level.shape_zyx[0]; ++z) {
      meter_.add(balls.slice(z), truth_->slice(z), body_->slice(z));
      limited(z);
    }
    knowing_nothing_->add(image_, facts(), meter_.finish());
  }

  const cohort::Cohort& cohort_;
  const config::RunConfig& config_;
  EvaluateOptions options_;
  measure::VolumeMetrics metrics_;
  std::optional<measure::VolumeMetrics> knowing_nothing_;
  MontageSlots montage_;
  std::array<bool, 256> shown_{};  ///< label values that a patch is kept for
  measure::VolumeMeter meter_;
  std::optional<SliceChooser> slices_;  ///< none: no pictures
  ExampleKeeper examples_;
  std::uint32_t image_ = 0;
  bool open_ = false;                            ///< not all of the image was given
  std::optional<inference::OriginalGrid> grid_;  ///< of that volume, if it is blended on the host
  std::optional<inference::PredictedRegion> region_;
  std::optional<VolumeTruth> truth_;
  std::optional<inference::SliceReader> body_;
  TruthTensors truth_there_;          ///< of slices that have not come to the host yet
  std::optional<VolumeTally> tally_;  ///< likewise
};

}  // namespace

std::unique_ptr<Evaluator> make_volume_evaluator(const cohort::Cohort& cohort,
                                                 const config::RunConfig& config,
                                                 const EvaluateOptions& options,
                                                 std::uint64_t tiles) {
  return std::make_unique<VolumeEvaluator>(cohort, config, options, tiles);
}

}  // namespace headrace::train
