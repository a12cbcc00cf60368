#pragma once
#include <cstdint>

namespace headrace::zarr {

// What Headrace writes for slides unless it is told otherwise; the measurements that chose it stand
// in docs/formats.md, "Zarr". Elements are stored interleaved (transpose [1, 2, 0]), where random
// patches read twice as fast as from planes.

inline constexpr std::int64_t kSlideShardEdge = 4096;
/// Edge of the unit that is decoded, for blosc-zstd and for levels that are encoded as JPEG.
inline constexpr std::int64_t kSlideInnerEdge = 128;
inline constexpr std::int64_t kSlideJpegInnerEdge = 256;
/// blosc's level 1 is zstd's 1: 2 % larger than blosc's level 5 and three times as fast to write.
inline constexpr int kSlideBloscLevel = 1;
inline constexpr const char* kSlideBloscShuffle = "noshuffle";
/// 64 rows of an inner chunk, so that a chunk of which few rows are needed is decoded by halves.
inline constexpr std::int64_t kSlideBloscBlockBytes = 64 * kSlideInnerEdge * 3;
/// Quality of pyramid levels that are encoded as JPEG, 4:2:0 as scanners store level 0.
inline constexpr int kSlideJpegQuality = 90;

}  // namespace headrace::zarr
