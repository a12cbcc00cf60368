#include "learn/train/volume/volume_examples.hpp"

#include <algorithm>

#include "headrace/core/ignore_label.hpp"
#include "learn/inference/volume/slice_reader.hpp"
#include "learn/report/plane_picture.hpp"

namespace headrace::train {
namespace {

constexpr std::int64_t kLongest = 512;
constexpr float kLowHu = -160, kHighHu = 240;

std::size_t first_channel(const cohort::Cohort& cohort, const config::RunConfig& config) {
  if (config.data.channels.empty()) return 0;
  const auto& names = cohort.channels();
  const auto found = std::find(names.begin(), names.end(), config.data.channels.front());
  return found == names.end() ? 0 : static_cast<std::size_t>(found - names.begin());
}

/// 0 to 1 as it is shown.
std::vector<float> grey_of(std::span<const std::int16_t> values, IntensityUnit unit) {
  float low = kLowHu, high = kHighHu;
  if (unit != IntensityUnit::hu) {
    std::vector<std::int16_t> sorted(values.begin(), values.end());
    const auto at = sorted.begin() +
                    static_cast<std::ptrdiff_t>(0.995 * static_cast<double>(sorted.size() - 1));
    std::nth_element(sorted.begin(), at, sorted.end());
    low = 0;
    high = std::max<float>(1, *at);
  }
  std::vector<float> out;
  out.reserve(values.size());
  for (const std::int16_t value : values)
    out.push_back((static_cast<float>(value) - low) / (high - low));
  return out;
}

}  // namespace

void SliceChooser::start(const std::array<std::int64_t, 3>& shape_zyx) {
  shape_zyx_ = shape_zyx;
  wrong_ = true_ = middle_ = {};
}

void SliceChooser::add(std::int64_t z, std::span<const std::uint8_t> predicted,
                       std::span<const std::uint8_t> truth) {
  std::uint64_t wrong = 0, seen = 0;
  for (std::size_t i = 0; i < truth.size(); ++i) {
    wrong += truth[i] < classes_ && truth[i] != predicted[i] ? 1 : 0;
    seen += shown_[truth[i]] ? 1 : 0;
  }
  const auto keep = [&](Slice& slice, std::uint64_t count) {
    slice = {z,
             count,
             {shape_zyx_[1],
              shape_zyx_[2],
              {predicted.begin(), predicted.end()},
              {truth.begin(), truth.end()}}};
  };
  if (wrong > wrong_.count) keep(wrong_, wrong);
  if (seen > true_.count) keep(true_, seen);
  if (z == shape_zyx_[0] / 2) keep(middle_, 0);
}

void SliceChooser::finish(ShownImage& image) {
  if (true_.count == 0) true_ = middle_;
  if (wrong_.count == 0) wrong_ = true_;
  image.slice = wrong_.z;
  image.slice_of_truth = true_.z;
  image.labels = std::move(wrong_.labels);
  image.labels_of_truth = std::move(true_.labels);
}

ExamplePictures volume_pictures(const cohort::Cohort& cohort, const config::RunConfig& config,
                                const ShownImage& image, bool worst) {
  const cohort::VolumeLevel& level = cohort.images()[image.image].volume->levels.front();
  const LabelPicture& labels = worst ? image.labels : image.labels_of_truth;
  ExamplePictures out;
  out.slice = worst ? image.slice : image.slice_of_truth;
  out.slices = level.shape_zyx[0];
  const std::size_t channel = first_channel(cohort, config);
  inference::SliceReader reader(cohort.image_array(image.image, 0, channel));
  const std::span<const std::uint8_t> bytes = reader.slice(out.slice);
  report::Plane plane;
  plane.height = level.shape_zyx[1];
  plane.width = level.shape_zyx[2];
  plane.row_mm = level.spacing_mm_zyx[1];
  plane.column_mm = level.spacing_mm_zyx[2];
  plane.values = grey_of(
      {reinterpret_cast<const std::int16_t*>(bytes.data()), bytes.size() / sizeof(std::int16_t)},
      cohort.unit_of(channel));
  out.original = report::plane_picture(plane, kLongest);
  plane.truth = labels.truth;
  out.truth = report::plane_picture(plane, kLongest);
  plane.truth = labels.predicted;
  out.prediction = report::plane_picture(plane, kLongest);
  return out;
}

}  // namespace headrace::train
