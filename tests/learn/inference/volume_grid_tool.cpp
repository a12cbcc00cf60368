// Takes probabilities from one grid to another, for the comparison with other implementations.
// Usage: volume_grid_tool FILE CLASSES D H W LEVEL0_D LEVEL0_H LEVEL0_W STEP_Z STEP_Y STEP_X
// FILE: float32 (D, CLASSES, H, W). Writes float32 (LEVEL0_D, CLASSES, LEVEL0_H, LEVEL0_W) to
// stdout.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "learn/inference/volume/original_grid.hpp"

int main(int argc, char** argv) {
  if (argc != 12) return 2;
  const auto classes = static_cast<std::size_t>(std::atoll(argv[2]));
  headrace::inference::OriginalGrid::Axes patch{}, level0{};
  std::array<double, 3> step{};
  for (int axis = 0; axis < 3; ++axis) {
    patch[axis] = std::atoll(argv[3 + axis]);
    level0[axis] = std::atoll(argv[6 + axis]);
    step[axis] = std::atof(argv[9 + axis]);
  }
  std::ifstream file(argv[1], std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  std::vector<float> values(bytes.size() / 4);
  std::memcpy(values.data(), bytes.data(), 4 * values.size());
  headrace::inference::OriginalGrid grid(
      classes, patch, level0, step, [](std::int64_t, std::span<const float> slice) {
        std::fwrite(slice.data(), sizeof(float), slice.size(), stdout);
      });
  const std::size_t slice = classes * static_cast<std::size_t>(patch[1] * patch[2]);
  for (std::int64_t z = 0; z < patch[0]; ++z)
    grid.add({values.data() + static_cast<std::size_t>(z) * slice, slice});
  return grid.complete() ? 0 : 1;
}
