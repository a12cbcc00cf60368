#pragma once
#include <cstring>
#include <string>
#include <vector>

#include "headrace/imaging/tiff/tiff_file_writer.hpp"
#include "headrace/pixels/jpeg/jpeg_encoder.hpp"
#include "tests/learn/process/generated_image.hpp"

namespace headrace::process {

/// A JPEG TIFF of edge² pixels in a few hundred kilobytes: its tiles are 16 different ones, over
/// and over. edge: a multiple of 256.
inline void write_large_tiff(const std::string& path, std::int64_t edge) {
  constexpr std::int64_t kTile = 256;
  const GeneratedImage parts(4 * kTile, 4 * kTile);
  imaging::TiffFileWriter file(path);
  std::vector<std::uint64_t> offsets, sizes, part_offsets, part_sizes;
  for (int i = 0; i < 16; ++i) {
    const auto jpeg = pixels::encode_jpeg_tile(parts.at(i / 4 * kTile, i % 4 * kTile), kTile, kTile,
                                               4 * kTile * 3, 80);
    part_offsets.push_back(file.append(jpeg));
    part_sizes.push_back(jpeg.size());
  }
  const std::int64_t across = edge / kTile;
  for (std::int64_t i = 0; i < across * across; ++i) {
    const auto part = static_cast<std::size_t>((i / across * 7 + i % across * 3) % 16);
    offsets.push_back(part_offsets[part]);
    sizes.push_back(part_sizes[part]);
  }
  std::vector<std::uint64_t> tables;
  for (const std::byte b : pixels::encode_jpeg_tables(80)) {
    tables.push_back(std::to_integer<std::uint64_t>(b));
  }
  using imaging::TiffType;
  file.add_directory({{256, TiffType::dword, {static_cast<std::uint64_t>(edge)}},
                      {257, TiffType::dword, {static_cast<std::uint64_t>(edge)}},
                      {258, TiffType::word, {8, 8, 8}},
                      {259, TiffType::word, {7}},
                      {262, TiffType::word, {6}},
                      {277, TiffType::word, {3}},
                      {284, TiffType::word, {1}},
                      {322, TiffType::dword, {kTile}},
                      {323, TiffType::dword, {kTile}},
                      {324, TiffType::offset, std::move(offsets)},
                      {325, TiffType::dword, std::move(sizes)},
                      {347, TiffType::undefined, std::move(tables)},
                      {530, TiffType::word, {2, 2}}});
  file.finish();
}

/// The same picture without compression, in tiles of 512² that begin at blocks of a disk; 3 edge²
/// bytes, a BigTIFF where those are over 4 GiB. edge: a multiple of 512.
inline void write_large_raw_tiff(const std::string& path, std::int64_t edge) {
  constexpr std::int64_t kTile = 512, kParts = 4;
  constexpr auto kBytes = static_cast<std::uint64_t>(3 * kTile * kTile);
  const GeneratedImage image(kParts * kTile, kParts * kTile);
  std::vector<std::vector<std::byte>> parts;
  for (int i = 0; i < kParts * kParts; ++i) {
    parts.emplace_back(kBytes);
    for (std::int64_t y = 0; y < kTile; ++y) {
      std::memcpy(parts.back().data() + y * kTile * 3,
                  image.at(i / kParts * kTile + y, i % kParts * kTile),
                  static_cast<std::size_t>(kTile * 3));
    }
  }
  imaging::TiffFileWriter file(path);
  const std::uint64_t begin = file.reserve(1);
  file.reserve(4096 - begin % 4096 - 1);
  const std::int64_t across = edge / kTile;
  std::vector<std::uint64_t> offsets, sizes;
  for (std::int64_t i = 0; i < across * across; ++i) {
    const auto part = static_cast<std::size_t>((i / across * 7 + i % across * 3) % 16);
    offsets.push_back(file.append(parts[part]));
    sizes.push_back(kBytes);
  }
  using imaging::TiffType;
  file.add_directory({{256, TiffType::dword, {static_cast<std::uint64_t>(edge)}},
                      {257, TiffType::dword, {static_cast<std::uint64_t>(edge)}},
                      {258, TiffType::word, {8, 8, 8}},
                      {259, TiffType::word, {1}},
                      {262, TiffType::word, {2}},
                      {277, TiffType::word, {3}},
                      {284, TiffType::word, {1}},
                      {322, TiffType::dword, {kTile}},
                      {323, TiffType::dword, {kTile}},
                      {324, TiffType::offset, std::move(offsets)},
                      {325, TiffType::dword, std::move(sizes)}});
  file.finish();
}

}  // namespace headrace::process
