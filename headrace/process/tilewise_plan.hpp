#pragma once
#include <cstddef>
#include <cstdint>

#include "headrace/process/image_source.hpp"
#include "headrace/process/operation.hpp"

namespace headrace::process {

/// How an image is walked in bounded memory. It is cut into vertical strips; a strip is gone down
/// in bands of one region's height, while a ring holds its decoded rows: those of the band that is
/// processed, with their halo, and those of the next, which are decoded meanwhile. So every block
/// of the source is decoded once, but for those that two strips need.
struct TilewisePlan {
  std::int64_t tile = 0;           ///< edge of what one kernel call processes
  std::int64_t region = 0;         ///< edge of what one thread processes and writes: whole chunks
  std::int64_t strip_regions = 0;  ///< regions across a strip
  std::int64_t ring_rows = 0;      ///< rows of pixels that are kept, whole source blocks
  std::size_t workers = 1;
  std::uint64_t memory_bytes = 0;  ///< what this is expected to take, the program included
};

/// chunk: edge of the output's chunks; tile 0 takes the chunk's. encoded: whether chunks go through
/// a compressor. Errors: usage (tile), memory (says what the least is).
TilewisePlan plan_tilewise(const ImageFacts& facts, const Operation& operation, std::int64_t chunk,
                           std::int64_t tile, bool encoded, std::uint64_t memory_bytes,
                           int threads);

}  // namespace headrace::process
