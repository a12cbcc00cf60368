#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "headrace/pixels/regions/region_tracer.hpp"
#include "learn/predict/slide/slide_findings.hpp"

namespace headrace::predict {

/// Finds what a predicted slide shows, row by row.
///
/// memory  a few rows; of each region that is listed some 100 bytes and 8 a class; the outlines of
///         tumour foci that are not finished and the hulls of the others; the cells and runs of
///         TissuePieces
/// Not thread-safe.
class SlideFindingsBuilder {
 public:
  explicit SlideFindingsBuilder(SlideFacts facts);
  SlideFindingsBuilder(const SlideFindingsBuilder&) = delete;
  SlideFindingsBuilder& operator=(const SlideFindingsBuilder&) = delete;

  /// The next row of the map, from row 0 on: predicted classes (255: not predicted) and scores of
  /// PixelScores, (classes + 1, pixels). Errors: internal (another size or class, too many rows).
  void add(std::span<const std::uint8_t> predicted, std::span<const std::uint8_t> scores);
  /// Rows that did not come count as not predicted: a slide without tissue has none. No rows may
  /// follow.
  SlideFindings finish();

 private:
  void check(std::span<const std::uint8_t> predicted, std::span<const std::uint8_t> scores) const;
  void count_pixels(std::span<const std::uint8_t> predicted);
  void keep(pixels::TracedRegion&& region);

  SlideFindings found_;
  std::uint64_t least_px_;
  TissuePieces pieces_;
  pixels::RegionTracer regions_, foci_;
  std::vector<TissuePieces::Kind> kinds_;
  std::vector<std::uint8_t> tumour_;
  std::int64_t next_row_ = 0;
};

}  // namespace headrace::predict
