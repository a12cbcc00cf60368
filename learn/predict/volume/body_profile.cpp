#include "learn/predict/volume/body_profile.hpp"

namespace headrace::predict {

void BodyProfile::add(std::span<const std::uint8_t> body, std::int64_t width) {
  Sums& sums = slices_.emplace_back();
  const auto row_size = static_cast<std::size_t>(width);
  for (std::size_t y = 0; (y + 1) * row_size <= body.size(); ++y) {
    for (std::size_t x = 0; x < row_size; ++x) {
      if (body[y * row_size + x] == 0) continue;
      ++sums.voxels;
      sums.y += y;
      sums.x += x;
    }
  }
}

std::optional<BodyProfile::Slices> BodyProfile::slices() const {
  std::optional<Slices> out;
  for (std::size_t z = 0; z < slices_.size(); ++z) {
    if (slices_[z].voxels == 0) continue;
    const auto at = static_cast<std::int64_t>(z);
    if (!out) out = Slices{at, at};
    out->last = at;
  }
  return out;
}

std::optional<std::array<double, 2>> BodyProfile::centre_yx(std::int64_t z) const {
  const Sums& sums = slices_.at(static_cast<std::size_t>(z));
  if (sums.voxels == 0) return std::nullopt;
  const auto voxels = static_cast<double>(sums.voxels);
  return std::array{static_cast<double>(sums.y) / voxels, static_cast<double>(sums.x) / voxels};
}

}  // namespace headrace::predict
