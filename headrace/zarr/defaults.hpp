#pragma once
#include <cstdint>

namespace headrace::zarr {

// What Headrace writes for slides by default; docs/formats.md, "Zarr", has the measurements behind
// it. Elements are stored interleaved (transpose [1, 2, 0]), where random patches read twice as
// fast as from planes.

inline constexpr std::int64_t kSlideShardEdge = 4096;
/// Edge of the unit that is decoded, for blosc-zstd and for levels that are encoded as JPEG.
inline constexpr std::int64_t kSlideInnerEdge = 128;
inline constexpr std::int64_t kSlideJpegInnerEdge = 256;
/// blosc's level 1 is zstd's 1: 2 % larger than blosc's level 5 and three times as fast to write.
inline constexpr int kSlideBloscLevel = 1;
inline constexpr const char* kSlideBloscShuffle = "noshuffle";
/// 64 rows of an inner chunk, so that only half of a chunk is decoded where few of its rows are
/// needed.
inline constexpr std::int64_t kSlideBloscBlockBytes = 64 * kSlideInnerEdge * 3;
/// Quality of pyramid levels that are encoded as JPEG, 4:2:0 as scanners store level 0.
inline constexpr int kSlideJpegQuality = 90;

// For volumes ("Defaults for volumes" there): int16 HU in cubes, so that a patch touches few of
// them whichever way it lies.

inline constexpr std::int64_t kVolumeShardEdge = 192;
/// Edge of the cube that is decoded.
inline constexpr std::int64_t kVolumeInnerEdge = 32;
/// The low bits of a CT are noise and the high ones repeat each other: kept apart, both cost
/// little.
inline constexpr const char* kVolumeBloscShuffle = "bitshuffle";
/// A quarter of an inner chunk, and half of one: blocks that a patch does not touch are not
/// decoded, and blocks stay in the cache.
inline constexpr std::int64_t kVolumeLz4BlockBytes = 16 << 10;
inline constexpr std::int64_t kVolumeZstdBlockBytes = 32 << 10;
/// Levels of blosc's lz4hc, of blosc's zstd, and of codec zstd.
inline constexpr int kVolumeLz4Level = 5;
inline constexpr int kVolumeBloscLevel = 1;
inline constexpr int kVolumeZstdLevel = 3;
inline constexpr const char* kVolumeLz4Compressor = "lz4hc";

}  // namespace headrace::zarr
