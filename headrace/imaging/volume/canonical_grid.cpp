#include "headrace/imaging/volume/canonical_grid.hpp"

#include <algorithm>
#include <charconv>
#include <vector>

namespace headrace::imaging {
namespace {

constexpr double kTie = 1e-4;  ///< sums of cosines closer than this are equal

/// One of the six permutations, with the flips that make every axis point the right way.
struct Candidate {
  AxisMap map;
  double score = 0;  ///< sum of the direction cosines with left, back and up: at most 3
  double tie = 0;    ///< what decides between equal scores
};

Candidate candidate(const std::array<double, 9>& direction, const std::array<int, 3>& axis) {
  // Weights of the cosines off the diagonal; any distinct weights tell 45 degrees to one side from
  // 45 degrees to the other.
  constexpr std::array<double, 9> kWeights{0, 1, 2, 3, 0, 4, 5, 6, 0};
  Candidate out;
  out.map.axis = axis;
  for (int j = 0; j < 3; ++j) {
    out.map.flip[j] = direction[3 * j + axis[j]] < 0;
    const double sign = out.map.flip[j] ? -1 : 1;
    for (int row = 0; row < 3; ++row) {
      const double cosine = sign * direction[3 * row + axis[j]];
      if (row == j) out.score += cosine;
      out.tie += kWeights[3 * row + j] * cosine;
    }
  }
  return out;
}

AxisMap nearest_order(const VolumeGrid& file) {
  const auto direction = file.direction_lps();
  std::vector<Candidate> all;
  double highest = 0;
  std::array<int, 3> axis{0, 1, 2};
  do {
    all.push_back(candidate(direction, axis));
    highest = std::max(highest, all.back().score);
  } while (std::next_permutation(axis.begin(), axis.end()));
  std::erase_if(all, [&](const Candidate& c) { return c.score < highest - kTie; });
  return std::max_element(all.begin(), all.end(),
                          [](const auto& a, const auto& b) { return a.tie < b.tie; })
      ->map;
}

}  // namespace

double tidy_spacing_mm(double mm) {
  std::array<char, 64> text{};
  const auto written =
      std::to_chars(text.data(), text.data() + text.size(), static_cast<float>(mm));
  double tidy = mm;
  std::from_chars(text.data(), written.ptr, tidy);
  return tidy;
}

std::array<double, 3> tidy_spacing_mm_zyx(const VolumeGrid& grid) {
  return {tidy_spacing_mm(grid.spacing_mm(2)), tidy_spacing_mm(grid.spacing_mm(1)),
          tidy_spacing_mm(grid.spacing_mm(0))};
}

VolumeGrid reordered(const VolumeGrid& source, const AxisMap& map) {
  VolumeGrid out;
  Vec3 first{};  // the source's index of the first voxel
  for (int j = 0; j < 3; ++j) {
    const int from = map.axis[j];
    const std::int64_t size = source.shape_zyx[2 - from];
    out.shape_zyx[2 - j] = size;
    if (map.flip[j]) first[from] = static_cast<double>(size - 1);
    for (int row = 0; row < 3; ++row) {
      const double step = source.affine_lps[4 * row + from];
      out.affine_lps[4 * row + j] = map.flip[j] ? 0 - step : step;  // 0 - 0 is not a negative zero
    }
  }
  const Vec3 origin = source.to_lps_mm(first[0], first[1], first[2]);
  for (int row = 0; row < 3; ++row) out.affine_lps[4 * row + 3] = origin[row];
  return out;
}

CanonicalGrid canonical_grid(const VolumeGrid& file) {
  CanonicalGrid out;
  out.from_file = nearest_order(file);
  out.grid = reordered(file, out.from_file);
  const auto direction = out.grid.direction_lps();
  for (int j = 0; j < 3; ++j) {
    const double mm = tidy_spacing_mm(out.grid.spacing_mm(j));
    for (int row = 0; row < 3; ++row)
      out.grid.affine_lps[4 * row + j] = direction[3 * row + j] * mm + 0.0;  // no negative zero
  }
  return out;
}

VoxelPlaces places_of(const AxisMap& map, const std::array<std::int64_t, 3>& array_zyx) {
  const std::array<std::int64_t, 3> element{1, array_zyx[2], array_zyx[1] * array_zyx[2]};
  VoxelPlaces places;
  for (int j = 0; j < 3; ++j) {
    places.step_xyz[map.axis[j]] = map.flip[j] ? -element[j] : element[j];
    if (map.flip[j]) places.start += (array_zyx[2 - j] - 1) * element[j];
  }
  return places;
}

}  // namespace headrace::imaging
