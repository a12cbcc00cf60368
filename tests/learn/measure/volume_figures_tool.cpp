// Figures of pairs of label maps, for the comparison with other implementations.
// Usage: volume_figures_tool D H W SPACING_Z SPACING_Y SPACING_X TOLERANCE_MM CLASSES FILE…
// Each FILE is a case of one volume: truth, prediction (both D·H·W bytes) and lesion probabilities
// (D·H·W uint16), one after the other. Prints one JSON object: {volumes: […], group: {…}}.
#include <fmt/format.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>

#include "headrace/core/json.hpp"
#include "learn/measure/volume/group_figures.hpp"

namespace {

using headrace::Json;
using namespace headrace::measure;

bool read_volume(const char* path, PredictedVolume& volume) {
  std::ifstream file(path, std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  const auto count =
      static_cast<std::size_t>(volume.shape_zyx[0] * volume.shape_zyx[1] * volume.shape_zyx[2]);
  if (bytes.size() != 4 * count) return false;
  volume.truth.resize(count);
  volume.predicted.resize(count);
  volume.lesion.resize(count);
  std::memcpy(volume.truth.data(), bytes.data(), count);
  std::memcpy(volume.predicted.data(), bytes.data() + count, count);
  std::memcpy(volume.lesion.data(), bytes.data() + 2 * count, 2 * count);
  return true;
}

Json volume_json(const VolumeFigures& figures, std::size_t classes) {
  const auto list = [](const auto& values) {
    Json out = Json::array();
    for (const auto& value : values) out.push_back(value ? Json(*value) : Json(nullptr));
    return out;
  };
  Json out = {{"surface_dice", list(figures.surface_dice)},
              {"hd95", list(figures.hd95_mm)},
              {"hd95_penalised", list(figures.hd95_penalised_mm)}};
  for (std::size_t c = 0; c < classes; ++c) {
    const auto dice = figures.confusion.dice(c);
    out["dice"].push_back(dice ? Json(*dice) : Json(nullptr));
  }
  out["calls"] = out["lesions"] = Json::array();
  for (const auto& call : figures.calls)
    out["calls"].push_back({call.voxels, call.score, call.matched, call.overlap});
  for (const auto& lesion : figures.lesions)
    out["lesions"].push_back({lesion.voxels, lesion.centre_zyx});
  return out;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 10) return 2;
  PredictedVolume volume;
  for (int axis = 0; axis < 3; ++axis) {
    volume.shape_zyx[axis] = std::atoll(argv[1 + axis]);
    volume.spacing_mm_zyx[axis] = std::atof(argv[4 + axis]);
  }
  VolumeRules rules;
  rules.surface_tolerance_mm = std::atof(argv[7]);
  rules.classes = static_cast<std::size_t>(std::atoll(argv[8]));
  rules.lesion_classes = {1};
  std::vector<VolumeFigures> all;
  for (int i = 9; i < argc; ++i) {
    if (!read_volume(argv[i], volume)) return 2;
    all.push_back(measure_volume(volume, rules));
  }
  Json out = {{"volumes", Json::array()}};
  std::vector<CaseVolumes> cases;
  for (const VolumeFigures& figures : all) {
    out["volumes"].push_back(volume_json(figures, rules.classes));
    cases.push_back({{&figures}});
  }
  std::vector<const CaseVolumes*> pointers;
  for (const CaseVolumes& of : cases) pointers.push_back(&of);
  GroupRules group;
  group.lesions = true;
  for (std::size_t c = 0; c < rules.classes; ++c) group.classes.push_back(fmt::format("c{}", c));
  out["group"] = group_json(pointers, group);
  fmt::print("{}\n", out.dump());
}
