#include "headrace/imaging/tiff/label_writer.hpp"

#include <zlib.h>

#include <algorithm>
#include <vector>

#include "headrace/core/error.hpp"
#include "headrace/imaging/tiff/tiff_file_writer.hpp"

namespace headrace::imaging {
namespace {

constexpr int kDeflateLevel = 6;

std::vector<std::byte> deflate_bytes(const std::vector<std::uint8_t>& raw) {
  uLongf size = compressBound(raw.size());
  std::vector<std::byte> out(size);
  if (compress2(reinterpret_cast<Bytef*>(out.data()), &size, raw.data(), raw.size(),
                kDeflateLevel) != Z_OK) {
    fail(ErrorCode::memory, "zlib could not compress a tile of {} bytes", raw.size());
  }
  out.resize(size);
  return out;
}

/// Where the tiles of a level lie in the file.
struct TilePlaces {
  std::vector<std::uint64_t> offsets, sizes;
};

TilePlaces write_tiles(TiffFileWriter& file, const LabelLevel& level, std::int64_t tile,
                       ThreadPool& pool) {
  TilePlaces places;
  std::vector<std::vector<std::byte>> row(
      static_cast<std::size_t>((level.width + tile - 1) / tile));
  for (std::int64_t y = 0; y < level.height; y += tile) {
    pool.parallel_for(row.size(), [&](std::size_t i) {
      std::vector<std::uint8_t> labels(static_cast<std::size_t>(tile * tile));
      const std::int64_t x = static_cast<std::int64_t>(i) * tile;
      level.render(y, x, std::min(tile, level.height - y), std::min(tile, level.width - x),
                   labels.data(), tile);
      row[i] = deflate_bytes(labels);
    });
    for (const auto& bytes : row) {
      places.offsets.push_back(file.append(bytes));
      places.sizes.push_back(bytes.size());
    }
  }
  return places;
}

std::vector<TiffTag> level_tags(const LabelLevel& level, std::int64_t tile, double mpp,
                                TilePlaces&& places) {
  const auto value = [](std::int64_t v) {
    return std::vector<std::uint64_t>{static_cast<std::uint64_t>(v)};
  };
  std::vector<TiffTag> tags{{256, TiffType::dword, value(level.width)},
                            {257, TiffType::dword, value(level.height)},
                            {258, TiffType::word, {8}},
                            {259, TiffType::word, {8}},
                            {262, TiffType::word, {1}},
                            {277, TiffType::word, {1}},
                            {284, TiffType::word, {1}},
                            {322, TiffType::dword, value(tile)},
                            {323, TiffType::dword, value(tile)},
                            {324, TiffType::offset, std::move(places.offsets)},
                            {325, TiffType::dword, std::move(places.sizes)}};
  if (mpp > 0) {
    const std::vector<TiffTag> resolution = tiff_resolution_tags(mpp);
    tags.insert(tags.end(), resolution.begin(), resolution.end());
  }
  return tags;
}

/// Makes the labels indices of a palette: ColorMap has all reds, then greens, then blues.
void add_palette(const std::vector<std::array<std::uint8_t, 3>>& colours,
                 std::vector<TiffTag>& tags) {
  constexpr std::size_t kEntries = 256;
  std::vector<std::uint64_t> map(3 * kEntries);
  for (std::size_t label = 0; label < std::min(colours.size(), kEntries); ++label) {
    for (std::size_t c = 0; c < 3; ++c) map[c * kEntries + label] = colours[label][c] * 257u;
  }
  for (TiffTag& tag : tags) {
    if (tag.tag == 262) tag.values = {3};
  }
  tags.push_back({320, TiffType::word, std::move(map)});
}

}  // namespace

void write_label_pyramid(const std::string& path, const LabelPyramid& pyramid, ThreadPool& pool) {
  const std::int64_t tile = pyramid.tile;
  if (pyramid.levels.empty()) fail(ErrorCode::usage, "{}: a label image without levels", path);
  for (const LabelLevel& level : pyramid.levels) {
    if (level.height < 1 || level.width < 1 || tile < 16 || tile % 16 != 0) {
      fail(ErrorCode::usage,
           "{}: a label image of {}x{} in tiles of {}; tiles are a multiple of 16", path,
           level.width, level.height, tile);
    }
  }
  TiffFileWriter file(path);
  std::vector<std::vector<TiffTag>> levels;
  for (const LabelLevel& level : pyramid.levels) {
    const double scale = static_cast<double>(std::uint64_t{1} << levels.size());
    levels.push_back(
        level_tags(level, tile, pyramid.mpp * scale, write_tiles(file, level, tile, pool)));
    if (!pyramid.colours.empty()) add_palette(pyramid.colours, levels.back());
    if (levels.size() > 1) levels.back().push_back({254, TiffType::dword, {1}});
  }
  std::vector<TiffTag> full = std::move(levels.front());
  levels.erase(levels.begin());
  if (!pyramid.description.empty()) {
    std::vector<std::uint64_t> text;
    for (const char c : pyramid.description) text.push_back(static_cast<unsigned char>(c));
    text.push_back(0);
    full.push_back({270, TiffType::ascii, std::move(text)});
  }
  file.add_directory(std::move(full), std::move(levels));
  file.finish();
}

void write_label_tiff(const std::string& path, std::int64_t height, std::int64_t width,
                      std::int64_t tile, double mpp, ThreadPool& pool, const LabelRender& render) {
  write_label_pyramid(path, {{{height, width, render}}, tile, mpp, {}, {}}, pool);
}

}  // namespace headrace::imaging
