#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "learn/handover/slide/predicted_slide.hpp"
#include "learn/result/image_result.hpp"

namespace headrace::handover {

struct GeojsonOptions {
  /// How far simplifying may move an outline, in micrometres. 0: every corner of the map's pixels.
  double tolerance_um = 0;
  /// Smaller regions are given as one class, Ignore*: read as labels again, they teach nothing.
  double min_area_mm2 = 0;
  std::vector<std::string> classes{};  ///< empty: all but background
};

/// Writes the regions of a predicted slide as annotations of QuPath (0.4 or newer): a GeoJSON
/// FeatureCollection (RFC 7946) with one Feature a line, in the order of RegionTracer.
///
///     geometry        Polygon with holes; pixels of the slide's level 0, (0, 0) its top left corner,
///                     or of the scan where that is a part of a larger canvas (MIRAX, Leica SCN).
///                     Pixels of the map that reach beyond the slide's edge are whole.
///     classification  name of the class, colour of pixels::class_colour
///     name            "region N", N its number in findings and regions.csv; those that they leave
///                     out have none
///     measurements    "area mm^2" of the region's pixels, where the pixel size is known;
///                     "mean probability <class>" of every class over them, 0 to 1
///     id              region_id
///
/// Each region is simplified by itself, so neighbours may overlap or part by the tolerance; every
/// polygon stays valid. The file appears whole or not at all; the same prediction gives the same
/// bytes.
///
/// returns how many regions are Ignore* for their area
/// memory  512 rows × (classes + 1) bytes a pixel, and the regions that are not finished
/// errors  usage (an unknown class, a negative measure, a measure where the pixel size is not
///         known), io
std::uint64_t write_qupath_geojson(const PredictedSlide& slide, const std::filesystem::path& path,
                                   const GeojsonOptions& options = {});
std::uint64_t write_qupath_geojson(const result::ImageResult& result,
                                   const std::filesystem::path& path,
                                   const GeojsonOptions& options = {});

}  // namespace headrace::handover
