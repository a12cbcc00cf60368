#include "headrace/imaging/tiff/pyramid_writer.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

#include "headrace/core/error.hpp"
#include "headrace/imaging/tiff/tiff_file_writer.hpp"
#include "headrace/pixels/jpeg/jpeg_encoder.hpp"

namespace headrace::imaging {
namespace {

using Render = std::function<void(std::int64_t, std::int64_t, std::int64_t, std::int64_t,
                                  std::uint8_t*, std::int64_t)>;

/// One level while it is written. Level 0 has no pixels of its own; a coarser one collects a row of
/// tiles.
struct Level {
  std::int64_t height = 0, width = 0;
  std::vector<std::uint8_t> band;
  std::vector<std::uint64_t> offsets, sizes;
};

/// Means of 2x2 pixels, (sum + 2) / 4; a side of one pixel is its own pair.
void halve(const std::uint8_t* src, std::int64_t src_stride, std::int64_t src_height,
           std::int64_t src_width, std::int64_t height, std::int64_t width, std::uint8_t* dst,
           std::int64_t dst_stride) {
  for (std::int64_t y = 0; y < height; ++y) {
    const std::uint8_t* upper = src + 2 * y * src_stride;
    const std::uint8_t* lower = src + std::min(2 * y + 1, src_height - 1) * src_stride;
    std::uint8_t* out = dst + y * dst_stride;
    for (std::int64_t x = 0; x < width; ++x) {
      const std::int64_t left = 6 * x, right = 3 * std::min(2 * x + 1, src_width - 1);
      for (int c = 0; c < 3; ++c) {
        out[3 * x + c] = static_cast<std::uint8_t>(
            (upper[left + c] + upper[right + c] + lower[left + c] + lower[right + c] + 2) / 4);
      }
    }
  }
}

/// Repeats the last column and row into the rest of an edge tile, so that JPEG has no step to
/// encode.
void extend_edges(std::uint8_t* tile, std::int64_t side, std::int64_t height, std::int64_t width) {
  const std::int64_t stride = side * 3;
  for (std::int64_t y = 0; y < height; ++y) {
    for (std::int64_t x = width; x < side; ++x)
      std::memcpy(tile + y * stride + x * 3, tile + y * stride + (width - 1) * 3, 3);
  }
  for (std::int64_t y = height; y < side; ++y) {
    std::memcpy(tile + y * stride, tile + (height - 1) * stride, static_cast<std::size_t>(stride));
  }
}

class PyramidWriter {
 public:
  PyramidWriter(const std::string& path, const PyramidOptions& options, ThreadPool& pool,
                const Render& render)
      : options_(options), pool_(pool), render_(render), file_(path) {
    std::int64_t height = options.height, width = options.width;
    levels_.push_back({height, width, {}, {}, {}});
    while (height > options.tile || width > options.tile) {
      height = std::max<std::int64_t>(1, height / 2);
      width = std::max<std::int64_t>(1, width / 2);
      levels_.push_back({height, width, {}, {}, {}});
      levels_.back().band.resize(static_cast<std::size_t>(options.tile * width * 3));
    }
  }

  void write() {
    for (std::int64_t row = 0; row * options_.tile < options_.height; ++row) write_row(0, row);
    const auto tables = pixels::encode_jpeg_tables(options_.jpeg_quality);
    for (std::size_t level = 0; level < levels_.size(); ++level)
      file_.add_directory(tags(level, tables));
    file_.finish();
  }

 private:
  /// Encodes one row of tiles and halves it into the next level, whose own row follows when it is
  /// full or ends.
  void write_row(std::size_t level, std::int64_t row) {
    Level& l = levels_[level];
    const std::int64_t across = (l.width + options_.tile - 1) / options_.tile;
    std::vector<std::vector<std::byte>> jpegs(static_cast<std::size_t>(across));
    pool_.parallel_for(jpegs.size(), [&](std::size_t i) {
      jpegs[i] = make_tile(level, row, static_cast<std::int64_t>(i));
    });
    for (const auto& jpeg : jpegs) {
      l.offsets.push_back(file_.append(jpeg));
      l.sizes.push_back(jpeg.size());
    }
    if (level + 1 == levels_.size()) return;
    const bool last = (row + 1) * options_.tile >= l.height;
    const bool has_rows = (row / 2) * options_.tile < levels_[level + 1].height;
    if ((row % 2 == 1 || last) && has_rows) write_row(level + 1, row / 2);
  }

  std::vector<std::byte> make_tile(std::size_t level, std::int64_t row, std::int64_t column) {
    const std::int64_t side = options_.tile, stride = side * 3;
    const Level& l = levels_[level];
    const std::int64_t y0 = row * side, x0 = column * side;
    const std::int64_t height = std::min(side, l.height - y0), width = std::min(side, l.width - x0);
    thread_local std::vector<std::uint8_t> tile;
    tile.resize(static_cast<std::size_t>(side * stride));
    if (level == 0) {
      render_(y0, x0, height, width, tile.data(), stride);
    } else {
      for (std::int64_t y = 0; y < height; ++y) {
        std::memcpy(tile.data() + y * stride, l.band.data() + (y * l.width + x0) * 3,
                    static_cast<std::size_t>(width * 3));
      }
    }
    if (level + 1 < levels_.size())
      halve_into_next(levels_[level + 1], row, x0, tile.data(), height, width);
    extend_edges(tile.data(), side, height, width);
    return pixels::encode_jpeg_tile(tile.data(), side, side, stride, options_.jpeg_quality);
  }

  void halve_into_next(Level& next, std::int64_t row, std::int64_t x0, const std::uint8_t* tile,
                       std::int64_t height, std::int64_t width) const {
    const std::int64_t half = options_.tile / 2;
    const std::int64_t top = row * half, left = x0 / 2;
    const std::int64_t rows = std::min((height + 1) / 2, next.height - top),
                       columns = std::min((width + 1) / 2, next.width - left);
    if (rows < 1 || columns < 1) return;
    const std::int64_t next_stride = next.width * 3;
    std::uint8_t* dst = next.band.data() + (row % 2) * half * next_stride + left * 3;
    halve(tile, options_.tile * 3, height, width, rows, columns, dst, next_stride);
  }

  std::vector<TiffTag> tags(std::size_t level, const std::vector<std::byte>& tables) {
    Level& l = levels_[level];
    const double scale = static_cast<double>(std::int64_t{1} << level);
    std::vector<TiffTag> tags = tiff_resolution_tags(options_.mpp * scale);
    const auto value = [](std::int64_t v) {
      return std::vector<std::uint64_t>{static_cast<std::uint64_t>(v)};
    };
    std::vector<std::uint64_t> table_bytes;
    for (const std::byte b : tables) table_bytes.push_back(std::to_integer<std::uint64_t>(b));
    tags.insert(tags.end(),
                {{254, TiffType::dword, value(level == 0 ? 0 : 1)},
                 {256, TiffType::dword, value(l.width)},
                 {257, TiffType::dword, value(l.height)},
                 {258, TiffType::word, {8, 8, 8}},
                 {259, TiffType::word, {7}},
                 {262, TiffType::word, {6}},
                 {277, TiffType::word, {3}},
                 {284, TiffType::word, {1}},
                 {322, TiffType::dword, value(options_.tile)},
                 {323, TiffType::dword, value(options_.tile)},
                 {324, TiffType::offset, std::move(l.offsets)},
                 {325, TiffType::dword, std::move(l.sizes)},
                 {347, TiffType::undefined, std::move(table_bytes)},
                 {530, TiffType::word, {2, 2}},
                 {532, TiffType::rational, {0, 1, 255, 1, 128, 1, 255, 1, 128, 1, 255, 1}}});
    return tags;
  }

  const PyramidOptions& options_;
  ThreadPool& pool_;
  const Render& render_;
  TiffFileWriter file_;
  std::vector<Level> levels_;
};

}  // namespace

void write_pyramid_tiff(const std::string& path, const PyramidOptions& options, ThreadPool& pool,
                        const Render& render) {
  if (options.height < 1 || options.width < 1 || options.tile < 16 || options.tile % 16 != 0 ||
      options.tile > 4096) {
    fail(ErrorCode::usage,
         "{}: a pyramid of {}x{} pixels in tiles of {}; tiles are a multiple of 16, at most 4096",
         path, options.width, options.height, options.tile);
  }
  if (!(options.mpp > 0))
    fail(ErrorCode::usage, "{}: {} micrometres a pixel; a positive number is needed", path,
         options.mpp);
  PyramidWriter(path, options, pool, render).write();
}

}  // namespace headrace::imaging
