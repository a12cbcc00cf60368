#include <algorithm>
#include <atomic>
#include <bitset>
#include <utility>

#include "headrace/core/error.hpp"
#include "headrace/core/ignore_label.hpp"
#include "headrace/core/threads.hpp"
#include "headrace/imaging/tiff/label_writer.hpp"
#include "headrace/pixels/regions/region_tracer.hpp"
#include "learn/handover/slide/predicted_slide.hpp"
#include "learn/view/review/reviewed_masks.hpp"

namespace headrace::view {
namespace {

constexpr std::int64_t kBandRows = 512;
constexpr std::int64_t kTile = 512;

/// The outlines of a region, from corners of the map's pixels to pixels of level 0.
std::vector<pixels::Ring> rings_of(const pixels::TracedRegion& region,
                                   const std::array<double, 2>& level0_px_yx) {
  std::vector<pixels::Ring> rings;
  for (const auto& corners : region.rings) {
    pixels::Ring ring;
    for (const pixels::Corner& corner : corners)
      ring.push_back({corner.x * level0_px_yx[1], corner.y * level0_px_yx[0]});
    rings.push_back(std::move(ring));
  }
  return rings;
}

/// The outlines of the regions that are asked for, by their number in findings.json: regions of at
/// least `least_listed_px` pixels in the order of RegionTracer.
std::map<std::uint64_t, std::vector<pixels::Ring>> trace(const handover::PredictedSlide& slide,
                                                         const LabelledFindings& wanted) {
  std::map<std::uint64_t, std::vector<pixels::Ring>> found;
  std::bitset<256> classes;
  for (std::size_t c = 1; c < slide.facts.classes.size(); ++c) classes.set(c);
  std::uint64_t listed = 0;
  const imaging::LabelLevel& map = slide.classes.at(0);
  pixels::RegionTracer tracer(map.width, classes, 0, true, [&](pixels::TracedRegion&& region) {
    if (region.pixels < slide.least_listed_px || !wanted.contains(++listed)) return;
    found[listed] = rings_of(region, slide.facts.slide->level0_px_yx);
  });
  const auto width = static_cast<std::size_t>(map.width);
  std::vector<std::uint8_t> band(static_cast<std::size_t>(kBandRows) * width);
  for (std::int64_t y0 = 0; y0 < map.height; y0 += kBandRows) {
    const std::int64_t rows = std::min(kBandRows, map.height - y0);
    map.render(y0, 0, rows, map.width, band.data(), map.width);
    for (std::size_t row = 0; row < static_cast<std::size_t>(rows); ++row)
      tracer.add(std::span(band).subspan(row * width, width), {});
  }
  tracer.finish();
  return found;
}

pixels::PolygonRaster painted(const result::ImageResult& result, const LabelledFindings& labels) {
  const auto regions = trace(handover::predicted_slide(result), labels);
  pixels::PolygonRaster raster;
  for (const auto& [number, finding] : labels) {
    if (!finding.outline.empty()) continue;
    const auto region = regions.find(number);
    if (region == regions.end()) {
      fail(ErrorCode::malformed, "{}: its class map has no region {}; predict the image again",
           result.folder().string(), number);
    }
    raster.add(region->second, finding.value);
  }
  for (const auto& [number, finding] : labels)
    if (!finding.outline.empty()) raster.add(finding.outline, finding.value);
  return raster;
}

}  // namespace

std::uint64_t write_slide_labels(const result::ImageResult& result, const LabelledFindings& labels,
                                 const std::filesystem::path& path) {
  const result::SlideMap& map = *result.facts().slide;
  const pixels::PolygonRaster raster = painted(result, labels);
  std::atomic<std::uint64_t> known = 0;
  const auto render = [&](std::int64_t y0, std::int64_t x0, std::int64_t height, std::int64_t width,
                          std::uint8_t* dst, std::int64_t row_stride) {
    for (std::int64_t y = 0; y < height; ++y)
      std::fill_n(dst + y * row_stride, width, kIgnoreLabel);
    raster.paint(y0, x0, height, width, dst, row_stride);
    std::int64_t ignored = 0;
    for (std::int64_t y = 0; y < height; ++y)
      ignored += std::count(dst + y * row_stride, dst + y * row_stride + width, kIgnoreLabel);
    known += static_cast<std::uint64_t>(height * width - ignored);
  };
  ThreadPool pool(0);
  const double mpp = map.mpp > 0 ? map.mpp / map.level0_px_yx[1] : 0;
  imaging::write_label_tiff(path.string(), map.level0_height, map.level0_width, kTile, mpp, pool,
                            render);
  return known;
}

}  // namespace headrace::view
