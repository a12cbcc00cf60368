#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "headrace/pixels/image.hpp"
#include "headrace/storage/store.hpp"

namespace headrace::imaging {

/// Decodes a whole PNG, JPEG or TIFF file to 8-bit RGB (grey is repeated, palettes are resolved,
/// transparent pixels on white). The kind is told from the bytes, not from the name. Errors: not_found,
/// malformed, unsupported; each names the file.
pixels::Image8 read_rgb(const std::string& path);
pixels::Image8 read_rgb(const std::shared_ptr<const storage::Object>& file);

/// Decodes a label or mask image to one integer channel (8- or 16-bit grey or palette indices; the
/// first channel of RGB).
pixels::Image<std::uint16_t> read_labels(const std::string& path);

/// Writes 8-bit PNG (1 or 3 channels), whole or not at all.
void write_png(const std::string& path, const pixels::Image8& image);
/// The same to memory, for HTML reports.
std::vector<std::uint8_t> encode_png(const pixels::Image8& image);

}  // namespace headrace::imaging
