#include <algorithm>
#include <array>
#include <atomic>

#include "headrace/core/error.hpp"
#include "headrace/core/ignore_label.hpp"
#include "headrace/core/threads.hpp"
#include "headrace/handover/volume/file_order.hpp"
#include "headrace/handover/volume/volume_export.hpp"
#include "headrace/imaging/nifti/nifti_writer.hpp"
#include "headrace/view/review/reviewed_masks.hpp"

namespace headrace::view {
namespace {

constexpr std::uint64_t kMostLesions = 254;  ///< of a map of lesions

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

}  // namespace

std::uint64_t write_volume_labels(const result::ImageResult& result, const LabelledFindings& labels,
                                  const std::filesystem::path& path) {
  const auto lesions = result.lesions();
  if (!lesions)
    fail(ErrorCode::usage, "{}: its run looks for no lesions", result.folder().string());
  const auto table = value_table(result, labels);
  auto voxels = handover::class_voxels(*lesions);
  std::uint64_t known = 0;
  for (std::uint8_t& voxel : voxels) {
    voxel = table[voxel];
    known += voxel != kIgnoreLabel ? 1 : 0;
  }
  const result::VolumeMap& map = *result.facts().volume;
  const auto places = handover::file_places(map, voxels.size());
  ThreadPool pool(0);
  imaging::write_nifti_gz(path.string(), map.file_grid, DType::uint8, pool,
                          [&](std::int64_t z, std::byte* dst) {
                            imaging::slice_in_file_order(voxels.data(), map.file_grid, z, places,
                                                         reinterpret_cast<std::uint8_t*>(dst));
                          });
  return known;
}

}  // namespace headrace::view
