#pragma once
#include <gtest/gtest.h>
#include <lz4.h>
#include <zstd.h>

#include <cstring>
#include <vector>

#include "headrace/pixels/jpeg/jpeg_decoder.hpp"
#include "headrace/zarr/decode_plan.hpp"

namespace headrace::zarr::test {

/// Carries a decode plan out with the libraries themselves and place_unit, in the order that
/// decode_plan.hpp states; units of a placement backwards, since their order must not matter.
inline void run_placements(const std::vector<Placement>& placements, const std::byte* encoded,
                           const std::byte* decoded, std::byte* out) {
  for (const Placement& p : placements) {
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(p.packed != 0 ? encoded : decoded);
    for (std::int32_t unit = p.units(); unit-- > 0;) {
      place_unit(p, bytes, reinterpret_cast<std::uint8_t*>(out), unit);
    }
  }
}

inline void decode_on_host(const DecodePlan& plan, const std::byte* encoded,
                           std::vector<std::byte>& windows) {
  std::vector<std::byte> decoded(plan.decoded_bytes, std::byte{0xee});
  for (const DecodePlan::Segment& segment : plan.segments) {
    ASSERT_LE(segment.offset + segment.size, plan.encoded_bytes);
    ASSERT_LE(segment.decoded_offset + segment.decoded_size, plan.decoded_bytes);
    const std::byte* src = encoded + segment.offset;
    std::byte* dst = decoded.data() + segment.decoded_offset;
    if (segment.codec == StreamCodec::zstd) {
      ASSERT_EQ(ZSTD_decompress(dst, segment.decoded_size, src, segment.size),
                segment.decoded_size);
    } else if (segment.codec == StreamCodec::lz4) {
      ASSERT_EQ(LZ4_decompress_safe(reinterpret_cast<const char*>(src),
                                    reinterpret_cast<char*>(dst), static_cast<int>(segment.size),
                                    static_cast<int>(segment.decoded_size)),
                static_cast<int>(segment.decoded_size));
    } else {
      const auto row = static_cast<std::int64_t>(segment.decoded_size) / segment.height;
      pixels::decode_jpeg_window(
          {src, segment.size}, "segment",
          {segment.height, segment.width, static_cast<int>(row / segment.width)},
          {0, segment.height, 0, segment.width}, dst, row);
    }
  }
  run_placements(plan.copies, encoded, decoded.data(), decoded.data());
  run_placements(plan.fills, encoded, decoded.data(), windows.data());
  run_placements(plan.places, encoded, decoded.data(), windows.data());
}

}  // namespace headrace::zarr::test
