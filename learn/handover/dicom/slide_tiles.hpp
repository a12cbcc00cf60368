#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "headrace/imaging/tiff/label_writer.hpp"
#include "learn/handover/dicom/ct_prediction.hpp"

namespace headrace::handover {

inline constexpr std::int64_t kSlideTile = 512;  ///< edge of a frame, in pixels of the map

/// One frame of a slide's segmentation: a tile of one segment.
struct SlideTile {
  std::size_t segment = 0;           ///< index in the list of segments
  std::int64_t row = 0, column = 0;  ///< of tiles, from 0
};

/// The tiles that hold a pixel of their segment, by segment, row and column; where there are none
/// the first of the first segment. memory: one row of tiles.
std::vector<SlideTile> slide_tiles(const imaging::LabelLevel& map,
                                   std::span<const Segment> segments);

/// Bytes of so many tiles, made even.
std::uint64_t slide_tile_bytes(std::size_t tiles);

/// Fills `bytes` with the tiles one after the other, a bit a pixel, the first in the lowest; 0
/// beyond the map's edge.
void fill_slide_tiles(const imaging::LabelLevel& map, std::span<const Segment> segments,
                      const std::vector<SlideTile>& tiles, std::span<std::uint8_t> bytes);

}  // namespace headrace::handover
