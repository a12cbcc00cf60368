#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

/// The bytes of a JPEG 2000 picture, which are not decoded here. Safe from any thread.
/// source  ITU-T T.800 annex A (codestreams), annex I (JP2 files)
namespace headrace::pixels {

/// A codestream, bare or in a JP2 file.
struct Jpeg2000Stream {
  std::span<const std::byte> codestream;  ///< from SOC on
  bool sycc = false;                      ///< the JP2 file states YCbCr
  bool recoloured = false;  ///< the JP2 file has a palette or an order of its channels
};

/// Nothing where the bytes are neither.
std::optional<Jpeg2000Stream> find_codestream(std::span<const std::byte> bytes);

/// What the size segment (SIZ) states.
struct Jpeg2000Size {
  std::int64_t height = 0, width = 0;
  int components = 0;
  std::int64_t tiles = 0;  ///< inside the codestream
  /// All components have 8 bits without sign.
  bool bytes = false;
  /// The picture begins at the origin of its grid, and all components have its size.
  bool plain_grid = false;
};

/// Nothing where the codestream does not begin with SOC and a sound SIZ.
std::optional<Jpeg2000Size> read_jpeg2000_size(std::span<const std::byte> codestream);

/// A copy of a codestream for a store. The text of comments is overwritten by spaces, so that no place
/// or length changes: it may hold names, and no pixel depends on it. What follows the end is left out. ycbcr: the components are luma and chroma. A codestream
/// can't say that, so the copy is a JP2 file of the fewest boxes, which states sYCC.
/// Empty where the codestream is damaged: a segment or a tile-part ends behind its end, or the
/// end is missing.
std::vector<std::byte> copy_jpeg2000(std::span<const std::byte> codestream, bool ycbcr);

}  // namespace headrace::pixels
