#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace headrace::imaging {

struct Jpeg2000Image {
  std::int64_t height = 0, width = 0;
  int precision = 0;  ///< bits of a value
  bool is_signed = false;
  std::vector<std::int32_t> pixels;  ///< (y, x)
};

/// Decodes a one-component JPEG 2000 codestream or JP2 file with OpenJPEG. height and width: what
/// is expected; anything else is refused before pixels are allocated. Errors: corrupt, unsupported;
/// each begins with `origin`.
Jpeg2000Image decode_jpeg2000(std::span<const std::uint8_t> bytes, std::int64_t height,
                              std::int64_t width, const std::string& origin);

}  // namespace headrace::imaging
