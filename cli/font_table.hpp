#pragma once

namespace headrace::cli {

/// Printable ASCII from space on; each glyph is rows of one hexadecimal digit of coverage a pixel.
constexpr int kGlyphCount = 95, kGlyphWidth = 7, kGlyphHeight = 15;
extern const char* const kGlyphs[kGlyphCount];

}  // namespace headrace::cli
