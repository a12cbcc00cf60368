#pragma once
#include <cstdint>
#include <vector>

#include "headrace/inference/stitcher.hpp"
#include "headrace/pixels/regions/region_tracer.hpp"
#include "headrace/predict/slide/pixel_scores.hpp"
#include "headrace/predict/slide/slide_findings.hpp"

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

  /// The next row of the map, from row 0 on: classes (255: not predicted) and probabilities
  /// (classes, pixels). Errors: internal (another row, size or class).
  void add(const inference::StitchedPart& row);
  /// Rows that did not come count as not predicted: a slide without tissue has none. No rows may
  /// follow.
  SlideFindings finish();

 private:
  void check(const inference::StitchedPart& row) const;
  void keep(pixels::TracedRegion&& region);

  SlideFindings found_;
  std::uint64_t least_px_;
  PixelScores scores_;
  TissuePieces pieces_;
  pixels::RegionTracer regions_, foci_;
  std::vector<TissuePieces::Kind> kinds_;
  std::vector<std::uint8_t> tumour_;
  std::int64_t next_row_ = 0;
};

}  // namespace headrace::predict
