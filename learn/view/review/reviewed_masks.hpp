#pragma once
#include <cstdint>
#include <filesystem>
#include <map>
#include <vector>

#include "headrace/pixels/polygon_raster.hpp"
#include "learn/result/image_result.hpp"

namespace headrace::view {

/// What a finding's pixels become.
struct LabelledFinding {
  std::uint8_t value = 0;             ///< of the store's classes
  std::vector<pixels::Ring> outline;  ///< slides: pixels of level 0; empty: as predicted
};
/// By the number of a region or lesion.
using LabelledFindings = std::map<std::uint64_t, LabelledFinding>;

/// Writes the mask image of a reviewed slide: a TIFF of level 0's size with the findings' values,
/// and 255 (ignore) everywhere else. A finding without an outline has the map's pixels of its
/// region; corrected outlines are painted over regions, later numbers over earlier ones. The file
/// appears whole or not at all. Returns how many pixels are not 255.
/// errors  malformed (a number that is no region of the map), io
std::uint64_t write_slide_labels(const result::ImageResult& result, const LabelledFindings& labels,
                                 const std::filesystem::path& path);

/// An outline on a slice of a volume, as SliceOutline has it.
struct LabelledOutline {
  std::uint8_t value = 0;  ///< of the store's classes
  std::vector<pixels::Ring> rings;
};
/// In the order in which they are painted, by the slice's index in the store's grid.
using LabelledSlices = std::map<std::int64_t, std::vector<LabelledOutline>>;

/// Writes the label volume of a reviewed scan as NIfTI on the file's own grid, likewise by the
/// voxels of its lesions; outlines are painted over them, whole voxels whose centre is inside.
/// Returns how many voxels are not 255. path: ends in .nii.gz
/// memory  the map
/// errors  usage (a lesion after the 254th, which the map does not have; a slice that the scan does
///         not have), io, those of handover::file_places
std::uint64_t write_volume_labels(const result::ImageResult& result, const LabelledFindings& labels,
                                  const LabelledSlices& slices, const std::filesystem::path& path);

}  // namespace headrace::view
