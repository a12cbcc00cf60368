#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "headrace/imaging/colour_count.hpp"
#include "headrace/pixels/image.hpp"
#include "headrace/storage/store.hpp"

namespace headrace::imaging {

/// A PNG file's pixel size: micrometres a pixel from pHYs, when that is given in metres.
struct PngSpacing {
  std::optional<double> mpp_y, mpp_x;
};

struct PngInfo {
  std::int64_t height = 0, width = 0;
  int bits = 8;  ///< a sample
  PngSpacing spacing;
  std::vector<std::byte> icc_profile;  ///< of iCCP; empty where there is none
};

/// Reads the header alone. Errors: malformed, io; each names the file.
PngInfo read_png_info(std::shared_ptr<const storage::Object> file);

/// Decodes to 8-bit RGB: palettes resolved, grey repeated, 16 bit cut to the high byte, transparent
/// pixels on white. Errors: malformed, corrupt (names the file), memory (over `max_bytes` of pixels).
pixels::Image8 decode_png_rgb(std::shared_ptr<const storage::Object> file, std::uint64_t max_bytes);

/// Decodes to integers as stored: grey values, palette indices, the first channel of RGB.
///
/// out  colours  pixels whose channels differ, by row; empty where there is one channel
pixels::Image<std::uint16_t> decode_png_labels(std::shared_ptr<const storage::Object> file,
                                               std::uint64_t max_bytes,
                                               std::vector<ColourCount>& colours);

/// Encodes 8-bit grey, RGB or RGBA. Errors: usage (other channel counts, an empty image).
std::vector<std::uint8_t> encode_png_bytes(const pixels::Image8& image);

}  // namespace headrace::imaging
