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

}  // namespace

void write_label_tiff(
    const std::string& path, std::int64_t height, std::int64_t width, std::int64_t tile, double mpp,
    ThreadPool& pool,
    const std::function<void(std::int64_t, std::int64_t, std::int64_t, std::int64_t, std::uint8_t*,
                             std::int64_t)>& render) {
  if (height < 1 || width < 1 || tile < 16 || tile % 16 != 0) {
    fail(ErrorCode::usage, "{}: a label image of {}x{} in tiles of {}; tiles are a multiple of 16",
         path, width, height, tile);
  }
  TiffFileWriter file(path);
  const std::int64_t across = (width + tile - 1) / tile;
  std::vector<std::uint64_t> offsets, sizes;
  std::vector<std::vector<std::byte>> row(static_cast<std::size_t>(across));
  for (std::int64_t y = 0; y < height; y += tile) {
    pool.parallel_for(row.size(), [&](std::size_t i) {
      std::vector<std::uint8_t> labels(static_cast<std::size_t>(tile * tile));
      const std::int64_t x = static_cast<std::int64_t>(i) * tile;
      render(y, x, std::min(tile, height - y), std::min(tile, width - x), labels.data(), tile);
      row[i] = deflate_bytes(labels);
    });
    for (const auto& bytes : row) {
      offsets.push_back(file.append(bytes));
      sizes.push_back(bytes.size());
    }
  }
  std::vector<TiffTag> tags = tiff_resolution_tags(mpp);
  const auto value = [](std::int64_t v) {
    return std::vector<std::uint64_t>{static_cast<std::uint64_t>(v)};
  };
  tags.insert(tags.end(), {{256, TiffType::dword, value(width)},
                           {257, TiffType::dword, value(height)},
                           {258, TiffType::word, {8}},
                           {259, TiffType::word, {8}},
                           {262, TiffType::word, {1}},
                           {277, TiffType::word, {1}},
                           {284, TiffType::word, {1}},
                           {322, TiffType::dword, value(tile)},
                           {323, TiffType::dword, value(tile)},
                           {324, TiffType::offset, std::move(offsets)},
                           {325, TiffType::dword, std::move(sizes)}});
  file.add_directory(std::move(tags));
  file.finish();
}

}  // namespace headrace::imaging
