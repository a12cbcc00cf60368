#include "learn/predict/volume/predicted_lesion.hpp"
#include "learn/measure/base/score.hpp"

#include <array>

namespace headrace::predict {
namespace {

std::optional<std::uint8_t> most_frequent(const std::array<std::uint64_t, 256>& voxels,
                                          std::span<const std::uint8_t> lesion_classes) {
  std::optional<std::uint8_t> best;
  for (const std::uint8_t value : lesion_classes) {
    if (voxels[value] > (best ? voxels[*best] : 0)) best = value;
  }
  return best;
}

}  // namespace

PredictedLesion describe_lesion(const measure::LocatedCall& call, const PredictedMap& map,
                                std::span<const std::uint8_t> lesion_classes) {
  const auto [depth, height, width] = map.grid.shape_zyx;
  PredictedLesion out;
  std::array<std::uint64_t, 256> voxels{};
  for (const pixels::Run& run : call.runs) {
    out.extent.add(run.z, run.y, run.x0, run.x1);
    const std::int64_t row = (run.z * height + run.y) * width;
    for (std::int64_t x = run.x0; x < run.x1; ++x)
      ++voxels[map.classes[static_cast<std::size_t>(row + x)]];
  }
  out.score = measure::probability_of(call.region.score);
  out.class_value = most_frequent(voxels, lesion_classes);
  out.diameter = axial_diameter(call.runs, map.grid);
  out.place = place_in_body(out.extent.centre_index_xyz(), map.grid, map.body);
  return out;
}

}  // namespace headrace::predict
