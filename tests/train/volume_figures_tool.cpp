// Figures of a pair of label maps, for the comparison with other implementations.
// Usage: volume_figures_tool FILE D H W SPACING_Z SPACING_Y SPACING_X TOLERANCE_MM CLASSES
// FILE: truth, prediction (both D·H·W bytes) and lesion probabilities (D·H·W uint16), one after the
// other. Prints one JSON object.
#include <fmt/format.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>

#include "headrace/core/json.hpp"
#include "headrace/train/volume/volume_figures.hpp"

int main(int argc, char** argv) {
  using headrace::Json;
  if (argc != 10) return 2;
  headrace::train::BlendedVolume volume;
  for (int axis = 0; axis < 3; ++axis) {
    volume.shape_zyx[axis] = std::atoll(argv[2 + axis]);
    volume.spacing_mm_zyx[axis] = std::atof(argv[5 + axis]);
  }
  headrace::train::VolumeRules rules;
  rules.surface_tolerance_mm = std::atof(argv[8]);
  rules.classes = static_cast<std::size_t>(std::atoll(argv[9]));
  rules.lesion_classes = {1};
  std::ifstream file(argv[1], std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  const auto count =
      static_cast<std::size_t>(volume.shape_zyx[0] * volume.shape_zyx[1] * volume.shape_zyx[2]);
  if (bytes.size() != 4 * count) return 2;
  volume.truth.resize(count);
  volume.predicted.resize(count);
  volume.lesion.resize(count);
  std::memcpy(volume.truth.data(), bytes.data(), count);
  std::memcpy(volume.predicted.data(), bytes.data() + count, count);
  std::memcpy(volume.lesion.data(), bytes.data() + 2 * count, 2 * count);
  const auto figures = headrace::train::measure_volume(volume, rules);
  const auto list = [](const auto& values) {
    Json out = Json::array();
    for (const auto& value : values) out.push_back(value ? Json(*value) : Json(nullptr));
    return out;
  };
  Json out = {{"surface_dice", list(figures.surface_dice)}, {"hd95", list(figures.hd95_mm)}};
  for (std::size_t c = 0; c < rules.classes; ++c) {
    const auto dice = figures.confusion.dice(c);
    out["dice"].push_back(dice ? Json(*dice) : Json(nullptr));
  }
  out["calls"] = out["lesions"] = Json::array();
  for (const auto& call : figures.calls)
    out["calls"].push_back({call.voxels, call.score, call.matched, call.overlap});
  for (const auto& lesion : figures.lesions)
    out["lesions"].push_back({lesion.voxels, lesion.centre_zyx});
  fmt::print("{}\n", out.dump());
}
