// volume_patch_tool VOXELS DEPTH HEIGHT WIDTH OUT < run.yaml: one patch of a raw int16 volume
// through the 3-D transform, for tests/conformance/volume_resample_test.py. The run names
// `level_spacing_mm`, `size`, `spacing_mm`, `centre` (level voxels) and `transforms`; OUT gets
// float32.
#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <iterator>

#include "headrace/core/error.hpp"
#include "headrace/transform/volume/volume_graph.hpp"
#include "headrace/transform/volume/volume_spec.hpp"

namespace {

using namespace headrace;
using namespace headrace::transform;

std::array<double, 3> three(YamlMap& map, const char* key) {
  const auto list = map.require(key).as_list(3);
  return {list[0].as_double(-1e6, 1e6), list[1].as_double(-1e6, 1e6), list[2].as_double(-1e6, 1e6)};
}

void run(char** argv) {
  std::array<std::int32_t, 3> shape;
  for (std::size_t i = 0; i < 3; ++i) shape[i] = std::atoi(argv[2 + i]);
  std::size_t count = 1;
  for (const std::int32_t edge : shape) count *= static_cast<std::size_t>(edge);
  std::vector<std::int16_t> voxels(count + 8);
  std::ifstream(argv[1], std::ios::binary)
      .read(reinterpret_cast<char*>(voxels.data()), std::streamsize(2 * count));
  const std::string text{std::istreambuf_iterator<char>(std::cin), {}};
  YamlMap map = YamlMap::parse(text, "stdin");
  VolumePatchSpec patch;
  const auto size = three(map, "size");
  for (std::size_t i = 0; i < 3; ++i) patch.size_zyx[i] = std::int32_t(size[i]);
  patch.spacing_mm_zyx = three(map, "spacing_mm");
  const VolumeGraph graph =
      VolumeGraph::compile(parse_volume_transforms(map.require("transforms")), patch);
  const auto params = graph.draw({1, 0, 0}, {}, true);
  VolumeGeometry geometry;
  graph.locate(*params, three(map, "centre"), three(map, "level_spacing_mm"), geometry);
  // A window of its own: what the level has of it, the rest poison.
  const Box3& w = geometry.window;
  std::vector<std::int16_t> window(std::size_t(w.voxels()) + 8, 30000);
  Box3 extent;
  for (std::size_t i = 0; i < 3; ++i) {
    extent.origin_zyx[i] = -w.origin_zyx[i];
    extent.size_zyx[i] = shape[i];
  }
  std::size_t to = 0;
  for (std::int64_t z = w.origin_zyx[0]; z < w.origin_zyx[0] + w.size_zyx[0]; ++z) {
    for (std::int64_t y = w.origin_zyx[1]; y < w.origin_zyx[1] + w.size_zyx[1]; ++y) {
      for (std::int64_t x = w.origin_zyx[2]; x < w.origin_zyx[2] + w.size_zyx[2]; ++x, ++to) {
        if (z < 0 || y < 0 || x < 0 || z >= shape[0] || y >= shape[1] || x >= shape[2]) continue;
        window[to] = voxels[std::size_t((z * shape[1] + y) * shape[2] + x)];
      }
    }
  }
  VolumeView<std::int16_t> view;
  view.data = window.data();
  for (std::size_t i = 0; i < 3; ++i) view.shape_zyx[i] = std::int32_t(w.size_zyx[i]);
  view.row_stride = w.size_zyx[2];
  view.slice_stride = w.size_zyx[1] * w.size_zyx[2];
  std::vector<float> out(std::size_t(patch.size_zyx[0]) * std::size_t(patch.size_zyx[1]) *
                         std::size_t(patch.size_zyx[2]));
  VolumeScratch scratch;
  graph.run(*params, geometry, view, {}, extent, 0, out.data(), nullptr, scratch);
  std::ofstream(argv[5], std::ios::binary)
      .write(reinterpret_cast<const char*>(out.data()), std::streamsize(4 * out.size()));
  fmt::print("{}\n", describe(*params).dump());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 6) {
    fmt::print(stderr, "usage: volume_patch_tool VOXELS DEPTH HEIGHT WIDTH OUT < run.yaml\n");
    return 2;
  }
  try {
    run(argv);
    return 0;
  } catch (const headrace::Error& error) {
    fmt::print(stderr, "error: {}\n", error.what());
    return headrace::exit_code(error.code());
  }
}
