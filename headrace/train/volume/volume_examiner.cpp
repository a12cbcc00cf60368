#include <algorithm>
#include <cmath>
#include <optional>

#include "headrace/core/error.hpp"
#include "headrace/core/ignore_label.hpp"
#include "headrace/loader/level_choice.hpp"
#include "headrace/loader/tile_corners.hpp"
#include "headrace/report/plane_picture.hpp"
#include "headrace/source/annotation.hpp"
#include "headrace/train/baseline.hpp"
#include "headrace/train/examiner.hpp"
#include "headrace/train/volume/original_grid.hpp"
#include "headrace/train/volume/slice_reader.hpp"
#include "headrace/train/volume/volume_meter.hpp"
#include "headrace/train/volume/volume_tally.hpp"

namespace headrace::train {
namespace {

constexpr std::int64_t kPicturePixels = 320;

using Axes = Examiner::Axes;

/// Grey values of a patch: what lies between its percentiles 0.5 and 99.5, to 0..1. The picture of
/// a patch must not depend on how the run normalises.
std::vector<float> to_grey(const float* values, std::size_t count) {
  std::vector<float> sorted(values, values + count);
  const auto pick = [&](double part) {
    const auto at =
        sorted.begin() + static_cast<std::ptrdiff_t>(part * static_cast<double>(count - 1));
    std::nth_element(sorted.begin(), at, sorted.end());
    return *at;
  };
  const float low = pick(0.005), high = std::max(pick(0.995), low + 1e-6f);
  std::vector<float> out(count);
  for (std::size_t i = 0; i < count; ++i) out[i] = (values[i] - low) / (high - low);
  return out;
}

/// The plane of a patch at `at` along `axis`; the other two axes stay in order.
report::Plane plane_of(const Axes& shape, const std::array<double, 3>& spacing, std::size_t axis,
                       std::int64_t at, const std::vector<float>& grey, const std::uint8_t* truth,
                       const std::vector<std::uint8_t>& predicted) {
  const std::size_t rows = axis == 0 ? 1 : 0, columns = axis == 2 ? 1 : 2;
  report::Plane plane;
  plane.height = shape[rows];
  plane.width = shape[columns];
  plane.row_mm = spacing[rows];
  plane.column_mm = spacing[columns];
  for (std::int64_t r = 0; r < plane.height; ++r) {
    // A coronal or sagittal plane stands with the last slice on top: the head, as CT is shown.
    const std::int64_t row = axis == 0 ? r : plane.height - 1 - r;
    for (std::int64_t c = 0; c < plane.width; ++c) {
      Axes voxel{};
      voxel[axis] = at;
      voxel[rows] = row;
      voxel[columns] = c;
      const auto i =
          static_cast<std::size_t>((voxel[0] * shape[1] + voxel[1]) * shape[2] + voxel[2]);
      plane.values.push_back(grey[i]);
      plane.truth.push_back(truth[i]);
      plane.predicted.push_back(predicted[i]);
    }
  }
  return plane;
}

class VolumeExaminer : public Examiner {
 public:
  VolumeExaminer(const source::Cohort& cohort, const loader::RunConfig& config,
                 const EvaluateOptions& options, std::uint64_t tiles)
      : cohort_(cohort),
        config_(config),
        options_(options),
        tally_(cohort, config),
        montage_(options.montage, tiles),
        meter_(tally_.rules()) {
    if (options.baseline != nullptr) knowing_nothing_.emplace(cohort, config);
    const auto lesion = tally_.rules().lesion_membership();
    for (std::size_t v = 0; v < shown_.size(); ++v) shown_[v] = lesion[v] == Membership::inside;
    // Without lesions to look for, pictures show any class.
    if (tally_.rules().lesion_classes.empty()) std::fill(shown_.begin() + 1, shown_.end(), true);
    shown_[kIgnoreLabel] = false;
  }

  Axes tile_zyx() const override {
    const auto& size = config_.volume_patch.size_zyx;
    return {size[0], size[1], size[2]};
  }

  Axes extent_zyx(std::uint32_t image) const override {
    const source::ImageRecord& record = cohort_.images()[image];
    const auto spacing = loader::level_spacing_mm_zyx(record, 0, config_);
    const auto& shape = record.volume->levels.front().shape_zyx;
    Axes out{};
    for (std::size_t axis = 0; axis < 3; ++axis) {
      out[axis] = loader::detail::patch_extent(
          shape[axis], config_.volume_patch.spacing_mm_zyx[axis] / spacing[axis]);
    }
    return out;
  }

  void add(const StitchedPart& slice) override {
    if (!grid_ || slice.image != image_) start(slice.image);
    with_context(context(), [&] { grid_->add(slice.probabilities); });
    if (grid_->complete()) measure();
  }

  void offer(const loader::Batch& batch, std::int64_t sample, const float* probabilities) override {
    const loader::SampleSite& site = batch.sites[static_cast<std::size_t>(sample)];
    const Axes shape = tile_zyx();
    const auto voxels = static_cast<std::size_t>(shape[0] * shape[1] * shape[2]);
    const std::uint8_t* truth = batch.labels + static_cast<std::size_t>(sample) * voxels;
    const auto score = static_cast<double>(
        std::count_if(truth, truth + voxels, [&](std::uint8_t label) { return shown_[label]; }));
    if (!montage_.wants(site.index, score)) return;
    const auto predicted = most_probable(probabilities, tally_.rules().classes, voxels);
    // The first channel: the one whose grid the labels lie on.
    const auto place = static_cast<std::size_t>(sample * batch.channels);
    const auto grey = to_grey(batch.floats() + place * voxels, voxels);
    const Axes centre = centre_of(truth, predicted, shape);
    const auto spacing = spacing_of(site.image);
    const char* const names[] = {"axial", "coronal", "sagittal"};
    MontagePatch patch{
        cohort_.images()[site.image].id, {site.tile_z, site.tile_yx[0], site.tile_yx[1]}, {}};
    for (std::size_t axis = 0; axis < 3; ++axis) {
      patch.pictures.push_back(
          {names[axis], report::plane_picture(
                            plane_of(shape, spacing, axis, centre[axis], grey, truth, predicted),
                            kPicturePixels)});
    }
    montage_.keep(site.index, score, std::move(patch));
  }

  void finish(Evaluation& out) override {
    if (grid_) fail(ErrorCode::internal, "Image {} was not stitched to its end.", image_);
    out.json = tally_.to_json(options_.intervals);
    if (knowing_nothing_) {
      const Json figures = knowing_nothing_->to_json(false);
      for (const char* group : {"overall", "cohorts", "phases"})
        out.json["baseline"][group] = figures.at(group);
      out.json["baseline"]["rule"] = options_.baseline->to_json();
    }
    out.mean_dice = tally_.mean_dice();
    out.montage = montage_.take();
  }

 private:
  std::array<double, 3> spacing_of(std::uint32_t image) const {
    if (!config_.patch_in_level0_pixels) return config_.volume_patch.spacing_mm_zyx;
    return cohort_.images()[image].volume->levels.front().spacing_mm_zyx;
  }

  std::string context() const { return "image " + cohort_.images()[image_].id; }

  void start(std::uint32_t image) {
    if (grid_) fail(ErrorCode::internal, "Image {} was not stitched to its end.", image_);
    image_ = image;
    const source::ImageRecord& record = cohort_.images()[image];
    const source::VolumeLevel& level = record.volume->levels.front();
    labels_.reset();
    if (const auto& name = config_.data.labels; record.has_labels(name))
      labels_.emplace(cohort_.label_array(image, name, 0));
    outside_ignored_ =
        labels_ && config_.data.outside == "ignore" &&
        source::annotation_of(cohort_, image, config_.data.labels) == source::Annotation::annotated;
    negative_.clear();
    if (!labels_ && source::declared_negative(record)) {
      negative_.resize(static_cast<std::size_t>(level.shape_zyx[1] * level.shape_zyx[2]));
      cohort_.class_match().apply(negative_);
    }
    body_.emplace(cohort_.body_mask(image));
    meter_.start(level.shape_zyx, level.spacing_mm_zyx);
    const auto spacing = loader::level_spacing_mm_zyx(record, 0, config_);
    std::array<double, 3> step{};
    for (std::size_t axis = 0; axis < 3; ++axis)
      step[axis] = config_.volume_patch.spacing_mm_zyx[axis] / spacing[axis];
    grid_.emplace(tally_.rules().classes, extent_zyx(image), level.shape_zyx, step,
                  [this](std::int64_t z, std::span<const float> probabilities) {
                    meter_.add(probabilities, truth_of(z), body_->slice(z));
                  });
  }

  void measure() {
    with_context(context(), [&] { tally_.add(image_, meter_.finish()); });
    grid_.reset();
    if (knowing_nothing_) measure_baseline();
  }

  /// The same measurement of what looks at no pixel.
  void measure_baseline() {
    BallSlices balls(*options_.baseline, cohort_, image_);
    const source::VolumeLevel& level = cohort_.images()[image_].volume->levels.front();
    meter_.start(level.shape_zyx, level.spacing_mm_zyx);
    for (std::int64_t z = 0; z < level.shape_zyx[0]; ++z)
      meter_.add(balls.slice(z), truth_of(z), body_->slice(z));
    knowing_nothing_->add(image_, meter_.finish());
  }

  /// Labels of a slice as the run's classes: those stored, or background all over where the image
  /// is known to be negative; else nothing.
  std::span<const std::uint8_t> truth_of(std::int64_t z) {
    if (!labels_) return negative_;
    const std::span<const std::uint8_t> stored = labels_->slice(z);
    if (cohort_.class_match().keeps_values() && !outside_ignored_) return stored;
    seen_labels_.assign(stored.begin(), stored.end());
    if (outside_ignored_)
      std::replace(seen_labels_.begin(), seen_labels_.end(), std::uint8_t{0}, kIgnoreLabel);
    cohort_.class_match().apply(seen_labels_);
    return seen_labels_;
  }

  /// The slice along each axis that has most of what is true; where nothing is, of what was said;
  /// else the middle.
  Axes centre_of(const std::uint8_t* truth, const std::vector<std::uint8_t>& predicted,
                 const Axes& shape) const {
    for (const std::uint8_t* labels : {truth, predicted.data()}) {
      std::array<std::vector<std::size_t>, 3> counts;
      for (std::size_t axis = 0; axis < 3; ++axis)
        counts[axis].assign(static_cast<std::size_t>(shape[axis]), 0);
      std::size_t sum = 0;
      for (std::int64_t z = 0; z < shape[0]; ++z) {
        for (std::int64_t y = 0; y < shape[1]; ++y) {
          for (std::int64_t x = 0; x < shape[2]; ++x) {
            if (!shown_[*labels++]) continue;
            ++counts[0][static_cast<std::size_t>(z)];
            ++counts[1][static_cast<std::size_t>(y)];
            ++counts[2][static_cast<std::size_t>(x)];
            ++sum;
          }
        }
      }
      if (sum == 0) continue;
      Axes out{};
      for (std::size_t axis = 0; axis < 3; ++axis) {
        out[axis] =
            std::max_element(counts[axis].begin(), counts[axis].end()) - counts[axis].begin();
      }
      return out;
    }
    return {shape[0] / 2, shape[1] / 2, shape[2] / 2};
  }

  const source::Cohort& cohort_;
  const loader::RunConfig& config_;
  EvaluateOptions options_;
  VolumeTally tally_;
  std::optional<VolumeTally> knowing_nothing_;
  MontageSlots montage_;
  std::array<bool, 256> shown_{};  ///< label values that a patch is kept for
  VolumeMeter meter_;
  std::uint32_t image_ = 0;
  std::optional<OriginalGrid> grid_;  ///< of the volume that is being given
  std::optional<SliceReader> labels_, body_;
  std::vector<std::uint8_t> seen_labels_;
  std::vector<std::uint8_t>
      negative_;                  ///< a slice of an image without labels, known to be negative
  bool outside_ignored_ = false;  ///< data.outside: of this image
};

}  // namespace

std::unique_ptr<Examiner> make_volume_examiner(const source::Cohort& cohort,
                                               const loader::RunConfig& config,
                                               const EvaluateOptions& options,
                                               std::uint64_t tiles) {
  return std::make_unique<VolumeExaminer>(cohort, config, options, tiles);
}

}  // namespace headrace::train
