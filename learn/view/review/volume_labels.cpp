#include <algorithm>
#include <array>
#include <vector>

#include "headrace/core/error.hpp"
#include "headrace/core/ignore_label.hpp"
#include "headrace/core/threads.hpp"
#include "headrace/imaging/volume/nifti_writer.hpp"
#include "learn/handover/volume/file_order.hpp"
#include "learn/handover/volume/volume_export.hpp"
#include "learn/view/review/reviewed_masks.hpp"
#include "learn/view/volume/lesion_contours.hpp"

namespace headrace::view {
namespace {

std::array<std::uint8_t, 256> value_table(const result::ImageResult& result,
                                          const LabelledFindings& labels) {
  std::array<std::uint8_t, 256> table;
  table.fill(kIgnoreLabel);
  for (const auto& [number, finding] : labels) {
    if (number > kMostLesions) {
      fail(ErrorCode::usage,
           "{}: the map holds the first {} lesions, so the voxels of lesion {} are not known; "
           "remove its verdict",
           result.folder().string(), kMostLesions, number);
    }
    table[number] = finding.value;
  }
  return table;
}

/// (z, y, x) in stored order: the judged lesions, ignore elsewhere.
std::vector<std::uint8_t> judged_voxels(const result::ImageResult& result,
                                        const LabelledFindings& labels) {
  const auto lesions = result.lesions();
  if (!lesions) {
    const auto voxels = static_cast<std::size_t>(result.facts().volume->grid.voxels());
    return std::vector<std::uint8_t>(voxels, kIgnoreLabel);
  }
  const auto table = value_table(result, labels);
  auto voxels = handover::class_voxels(*lesions);
  for (std::uint8_t& voxel : voxels) voxel = table[voxel];
  return voxels;
}

void paint_slices(const result::ImageResult& result, const LabelledSlices& slices,
                  std::vector<std::uint8_t>& voxels) {
  const auto [depth, height, width] = result.facts().volume->grid.shape_zyx;
  for (const auto& [slice, outlines] : slices) {
    if (slice < 0 || slice >= depth) {
      fail(ErrorCode::usage, "{}: has outlines on slice {}, and slices 0 to {}",
           result.folder().string(), slice, depth - 1);
    }
    pixels::PolygonRaster raster;
    for (const LabelledOutline& outline : outlines) raster.add(outline.rings, outline.value);
    raster.paint(0, 0, height, width, voxels.data() + slice * height * width, width);
  }
}

}  // namespace

std::uint64_t write_volume_labels(const result::ImageResult& result, const LabelledFindings& labels,
                                  const LabelledSlices& slices, const std::filesystem::path& path) {
  auto voxels = judged_voxels(result, labels);
  paint_slices(result, slices, voxels);
  const result::VolumeMap& map = *result.facts().volume;
  const auto places = handover::file_places(map, voxels.size());
  ThreadPool pool(0);
  imaging::write_nifti_gz(path.string(), map.file_grid, DType::uint8, pool,
                          [&](std::int64_t z, std::byte* dst) {
                            imaging::slice_in_file_order(voxels.data(), map.file_grid, z, places,
                                                         reinterpret_cast<std::uint8_t*>(dst));
                          });
  const auto ignored = std::count(voxels.begin(), voxels.end(), kIgnoreLabel);
  return voxels.size() - static_cast<std::size_t>(ignored);
}

}  // namespace headrace::view
