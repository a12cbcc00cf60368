#pragma once
#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "headrace/core/threads.hpp"

namespace headrace::imaging {

/// Fills rows of a tile-aligned region of labels, cut at the image's edge. Called from several
/// threads.
using LabelRender =
    std::function<void(std::int64_t y0, std::int64_t x0, std::int64_t height, std::int64_t width,
                       std::uint8_t* dst, std::int64_t row_stride)>;

/// Writes a label image as a tiled TIFF of 8-bit values, Deflate, one level; only one row of tiles
/// is in memory at a time. The file appears whole or not at all; the same labels give the same
/// bytes for any number of threads.
void write_label_tiff(const std::string& path, std::int64_t height, std::int64_t width,
                      std::int64_t tile, double mpp, ThreadPool& pool, const LabelRender& render);

struct LabelLevel {
  std::int64_t height = 0, width = 0;
  LabelRender render;
};

/// A label image with coarser levels; level k is 2^k coarser.
struct LabelPyramid {
  std::vector<LabelLevel> levels;
  std::int64_t tile = 512;  ///< a multiple of 16
  double mpp = 0;           ///< micrometres a pixel of level 0; 0: not known, and not stated
  std::vector<std::array<std::uint8_t, 3>> colours;  ///< by label, at most 256; empty: grey values
  std::string description;  ///< ImageDescription, for example OME-XML; empty: none
};

/// The same with levels: as SubIFDs of level 0, which is how an OME-TIFF has them (source: OME
/// Model 2016-06, "OME-TIFF specification", sub-resolutions). Labels stay as they are: with
/// colours they are the indices of a palette.
void write_label_pyramid(const std::string& path, const LabelPyramid& pyramid, ThreadPool& pool);

}  // namespace headrace::imaging
