#pragma once
#include <cstdint>

#include "headrace/device/cpu_isa.hpp"
#include "learn/process/tile_kernel.hpp"

namespace headrace::process::cpu {

/// Floats in a row of working memory: the tile with its halo, and room for whole packs.
constexpr std::int64_t row_floats(const TileKernel& k) {
  return (k.width + 2 * std::int64_t{k.radius} + 15) / 16 * 16 + 16;
}

/// Floats of working memory that a tile needs: the input rows of one row of results, and four more.
constexpr std::int64_t scratch_floats(const TileKernel& k) {
  const std::int64_t rows =
      k.kind == KernelKind::gaussian ? (2 * std::int64_t{k.radius} + 1) * k.source.channels : 3;
  return (rows + 4) * row_floats(k);
}

/// Runs one tile. `scratch`: scratch_floats(kernel) floats, owned by the caller. One driver for
/// each instruction set, all with the same bytes.
struct Driver {
  void (*tile)(const TileKernel& kernel, float* scratch);
};
extern const Driver kDriverV1, kDriverV2, kDriverV3;
const Driver& driver_for(device::CpuIsa isa) noexcept;

}  // namespace headrace::process::cpu
