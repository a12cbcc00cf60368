#include "learn/measure/volume/distance_transform.hpp"

#include <algorithm>
#include <limits>

#include "headrace/core/cancel.hpp"

namespace headrace::measure {
namespace {

constexpr double kFar = std::numeric_limits<double>::infinity();

/// Distances along z: two sweeps, slice by slice.
void sweep_slices(std::span<const std::uint8_t> set, std::int64_t depth, std::size_t plane,
                  double spacing, std::vector<double>& out) {
  std::vector<double> steps(plane, kFar);  // slices since the last that was set
  const auto pass = [&](std::int64_t z) {
    double* row = out.data() + static_cast<std::size_t>(z) * plane;
    const std::uint8_t* here = set.data() + static_cast<std::size_t>(z) * plane;
    for (std::size_t i = 0; i < plane; ++i) {
      steps[i] = here[i] != 0 ? 0 : steps[i] + 1;
      row[i] = std::min(row[i], steps[i]);
    }
  };
  for (std::int64_t z = 0; z < depth; ++z) pass(z);
  steps.assign(plane, kFar);
  for (std::int64_t z = depth; z-- > 0;) pass(z);
  for (double& value : out) value = value * spacing * (value * spacing);
}

/// min over j of values[j] + ((i - j)·spacing)², for every i of a line.
class Envelope {
 public:
  explicit Envelope(std::int64_t size, double spacing)
      : spacing_(spacing),
        values_(static_cast<std::size_t>(size)),
        place_(values_.size()),
        from_(values_.size() + 1) {}

  void run(double* line, std::size_t stride) {
    const std::size_t n = values_.size();
    for (std::size_t i = 0; i < n; ++i) values_[i] = line[i * stride];
    const double square = spacing_ * spacing_;
    std::size_t count = 0;
    for (std::size_t j = 0; j < n; ++j) {
      if (values_[j] == kFar) continue;
      // Where parabola j comes to lie below the last of the envelope.
      double cross = -kFar;
      while (count > 0) {
        const std::size_t k = place_[count - 1];
        const auto dj = static_cast<double>(j), dk = static_cast<double>(k);
        cross = ((values_[j] - values_[k]) / square + dj * dj - dk * dk) / (2 * (dj - dk));
        if (cross > from_[count - 1]) break;
        --count;
        cross = -kFar;
      }
      place_[count] = j;
      from_[count] = cross;
      ++count;
    }
    if (count == 0) return;
    std::size_t at = 0;
    for (std::size_t i = 0; i < n; ++i) {
      while (at + 1 < count && from_[at + 1] < static_cast<double>(i)) ++at;
      const double apart = (static_cast<double>(i) - static_cast<double>(place_[at])) * spacing_;
      line[i * stride] = values_[place_[at]] + apart * apart;
    }
  }

 private:
  double spacing_;
  std::vector<double> values_;
  std::vector<std::size_t> place_;
  std::vector<double> from_;
};

}  // namespace

std::vector<double> squared_distances(std::span<const std::uint8_t> set,
                                      const std::array<std::int64_t, 3>& shape_zyx,
                                      const std::array<double, 3>& spacing_mm_zyx) {
  const auto [depth, height, width] = shape_zyx;
  const auto plane = static_cast<std::size_t>(height * width);
  std::vector<double> out(set.size(), kFar);
  sweep_slices(set, depth, plane, spacing_mm_zyx[0], out);
  Envelope along_y(height, spacing_mm_zyx[1]), along_x(width, spacing_mm_zyx[2]);
  for (std::int64_t z = 0; z < depth; ++z) {
    stop_if_cancelled();
    double* slice = out.data() + static_cast<std::size_t>(z) * plane;
    for (std::int64_t x = 0; x < width; ++x)
      along_y.run(slice + x, static_cast<std::size_t>(width));
    for (std::int64_t y = 0; y < height; ++y) along_x.run(slice + y * width, 1);
  }
  return out;
}

}  // namespace headrace::measure
