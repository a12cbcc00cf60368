#pragma once
#include <cstddef>
#include <cstdint>

#include "learn/process/image_source.hpp"
#include "learn/process/operation.hpp"

namespace headrace::process {

/// How an image is processed in bounded memory. It is cut into vertical strips; a strip is
/// processed downwards in bands of one region's height, while a ring holds its decoded rows: those
/// of the current band, with their halo, and those of the next band, which are decoded meanwhile.
/// So every block of the source is decoded once, except blocks that two strips need.
struct TilewisePlan {
  std::int64_t tile = 0;           ///< edge of the tile of one kernel call
  std::int64_t region = 0;         ///< edge of the region that one thread processes and writes:
                                   ///< whole chunks
  std::int64_t strip_regions = 0;  ///< regions across a strip
  std::int64_t ring_rows = 0;      ///< rows of pixels that are kept, whole source blocks
  std::size_t workers = 1;
  std::uint64_t memory_bytes = 0;  ///< expected memory, including the program
};

/// chunk: edge of the output's chunks; tile 0 takes the chunk's. encoded: whether chunks go through
/// a compressor. Errors: usage (tile), memory (states the minimum).
TilewisePlan plan_tilewise(const ImageInfo& info, const Operation& operation, std::int64_t chunk,
                           std::int64_t tile, bool encoded, std::uint64_t memory_bytes,
                           int threads);

}  // namespace headrace::process
