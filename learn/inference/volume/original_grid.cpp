#include "learn/inference/volume/original_grid.hpp"

#include <algorithm>
#include <cmath>

#include "headrace/core/error.hpp"

namespace headrace::inference {
namespace {

/// out = a + part · (b - a): a itself where part is 0, and where a and b are the same.
void blend(const float* a, const float* b, float part, std::size_t count, float* out) {
  for (std::size_t i = 0; i < count; ++i) out[i] = a[i] + part * (b[i] - a[i]);
}

}  // namespace

std::vector<OriginalGrid::Between> OriginalGrid::along(std::int64_t patch, std::int64_t level0,
                                                       double step) {
  std::vector<Between> out;
  const auto last = static_cast<double>(patch - 1);
  for (std::int64_t j = 0; j < level0; ++j) {
    const double at = std::clamp((static_cast<double>(j) + 0.5) / step - 0.5, 0.0, last);
    const double low = std::floor(at);
    const auto part = static_cast<float>(at - low);
    const auto first = static_cast<std::int64_t>(low);
    out.push_back({first, part > 0 ? std::min(first + 1, patch - 1) : first, part});
  }
  return out;
}

OriginalGrid::OriginalGrid(std::size_t classes, const Axes& patch_shape_zyx, const Axes& shape_zyx,
                           const std::array<double, 3>& step_zyx, Sink sink)
    : classes_(classes), patch_(patch_shape_zyx), shape_(shape_zyx), sink_(std::move(sink)) {
  for (std::size_t axis = 0; axis < 3; ++axis)
    between_[axis] = along(patch_[axis], shape_[axis], step_zyx[axis]);
  rows_.resize(static_cast<std::size_t>(patch_[1] * shape_[2]));
  const std::size_t values = classes * static_cast<std::size_t>(shape_[1] * shape_[2]);
  low_.resize(values);
  high_.resize(values);
  blended_.resize(values);
}

/// A slice of the patch's grid onto rows and columns of level 0, into high_.
void OriginalGrid::widen(std::span<const float> probabilities) {
  const auto width = static_cast<std::size_t>(shape_[2]);
  const auto patch_width = static_cast<std::size_t>(patch_[2]);
  const std::size_t pixels = static_cast<std::size_t>(patch_[1]) * patch_width;
  std::vector<float> row(patch_width);
  for (std::size_t c = 0; c < classes_; ++c) {
    for (std::size_t y = 0; y < static_cast<std::size_t>(patch_[1]); ++y) {
      const float* from = probabilities.data() + c * pixels + y * patch_width;
      std::copy_n(from, patch_width, row.begin());
      for (std::size_t x = 0; c == 0 && x < patch_width; ++x) {
        bool seen = false;
        for (std::size_t k = 0; k < classes_ && !seen; ++k) seen = from[k * pixels + x] != 0;
        if (!seen) row[x] = 1;
      }
      float* to = rows_.data() + y * width;
      for (std::size_t x = 0; x < width; ++x) {
        const Between& at = between_[2][x];
        const float a = row[static_cast<std::size_t>(at.low)];
        to[x] = a + at.part * (row[static_cast<std::size_t>(at.high)] - a);
      }
    }
    for (std::size_t y = 0; y < static_cast<std::size_t>(shape_[1]); ++y) {
      const Between& at = between_[1][y];
      blend(rows_.data() + static_cast<std::size_t>(at.low) * width,
            rows_.data() + static_cast<std::size_t>(at.high) * width, at.part, width,
            high_.data() + (c * static_cast<std::size_t>(shape_[1]) + y) * width);
    }
  }
}

void OriginalGrid::add(std::span<const float> probabilities) {
  if (complete()) fail(ErrorCode::internal, "A volume of {} slices was given more.", patch_[0]);
  std::swap(low_, high_);
  widen(probabilities);
  const std::int64_t at = given_++;
  for (; next_ < shape_[0]; ++next_) {
    const Between& z = between_[0][static_cast<std::size_t>(next_)];
    if (z.high > at) return;
    if (z.low == at) {  // else z.low is the slice before: places grow with next_
      sink_(next_, high_);
    } else {
      blend(low_.data(), high_.data(), z.part, blended_.size(), blended_.data());
      sink_(next_, blended_);
    }
  }
}

}  // namespace headrace::inference
