#pragma once
#include <cstdint>
#include <type_traits>

#include "headrace/math/colour.hpp"

namespace headrace::process {

/// Interleaved 8-bit pixels of an image: all of it, or the currently needed rows, in a ring.
struct SourceView {
  const std::uint8_t* base;  ///< pixel (y0, x0)
  std::int64_t row_bytes;
  std::int64_t ring_rows;      ///< row y of the image lies at (y - y0) mod ring_rows
  std::int64_t y0, x0;         ///< no row or column before these is read
  std::int64_t height, width;  ///< of the whole image
  std::int32_t channels;       ///< 1 or 3
};

enum class OutputType : std::int32_t { uint8, uint16, float32 };

/// Destination of one tile's results: element (channel, row, column) of the tile.
struct TileOutput {
  std::uint8_t* data;
  std::int64_t channel_bytes, row_bytes, pixel_bytes;
  OutputType type;
  float scale;  ///< stored = value · scale; integers are rounded half up and limited to their range
};

enum class KernelKind : std::int32_t { copy, sobel, gaussian, density, recolour, mask };

inline constexpr int kMaxGaussianRadius = 128;

/// One tile of one operation; trivially copyable. All of the arithmetic is in pixel_math.hpp; rows
/// and columns outside the image are mirrored at its edge (… b a | a b … y z | z y …).
struct TileKernel {
  KernelKind kind;
  SourceView source;
  std::int64_t y0, x0;  ///< the tile's first pixel in the image
  std::int32_t height, width;
  TileOutput out;
  std::int32_t radius;                    ///< neighbours that a pixel needs on every side
  float weights[kMaxGaussianRadius + 1];  ///< by distance to the neighbour in pixels
  math::Colour34 colour;                  ///< acts on log2(v + 1)
  std::int32_t threshold;                 ///< mask: a darkest channel of at most this is 1
};
static_assert(std::is_trivially_copyable_v<TileKernel>);

}  // namespace headrace::process
