#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

#include "headrace/core/threads.hpp"
#include "headrace/ingest/volume/canonical_slices.hpp"
#include "headrace/ingest/volume/volume_plan.hpp"
#include "headrace/ingest/volume/volume_pyramid.hpp"
#include "learn/view/volume/voxel_source.hpp"

namespace headrace::view {
namespace {

using Shape = std::array<std::int64_t, 3>;

class MemoryVoxels : public VoxelSource {
 public:
  MemoryVoxels() { dtype_ = DType::int16; }

  void add(std::vector<std::int16_t> voxels, const VoxelScale& scale) {
    levels_.push_back(std::move(voxels));
    scales_.push_back(scale);
  }

  void read(std::size_t scale, const Shape& origin_zyx, const Shape& size_zyx,
            std::byte* dst) const override {
    const auto& shape = scales_[scale].shape_zyx;
    const auto row_bytes = static_cast<std::size_t>(size_zyx[2]) * sizeof(std::int16_t);
    for (std::int64_t z = 0; z < size_zyx[0]; ++z) {
      for (std::int64_t y = 0; y < size_zyx[1]; ++y, dst += row_bytes) {
        const std::int64_t row = (origin_zyx[0] + z) * shape[1] + origin_zyx[1] + y;
        std::memcpy(dst, levels_[scale].data() + row * shape[2] + origin_zyx[2], row_bytes);
      }
    }
  }

 private:
  std::vector<std::vector<std::int16_t>> levels_;
};

VoxelScale scale_of(const ingest::VolumePlan& plan, const ingest::VolumeLevelPlan& level) {
  VoxelScale scale{level.shape_zyx, plan.spacing_mm_zyx()};
  for (std::size_t axis = 0; axis < 3; ++axis)
    scale.spacing_mm_zyx[axis] *= static_cast<double>(level.factor_zyx[axis]);
  return scale;
}

}  // namespace

VolumeInMemory load_volume(const imaging::VolumeReader& reader) {
  const imaging::VolumeInfo& info = reader.info();
  const ingest::VolumePlan plan = ingest::plan_volume(info.grid, {});
  VolumeInMemory out;
  out.grid = plan.grid;
  out.unit = imaging::unit_of(info.modality).value_or(IntensityUnit::hu);
  auto voxels = std::make_shared<MemoryVoxels>();
  ThreadPool pool(0);
  std::vector<std::int16_t> level(static_cast<std::size_t>(plan.grid.voxels()));
  ingest::CanonicalSlices(reader, plan.from_file, out.unit, level.data(), pool, [](std::int64_t) {
  }).read(0, plan.grid.shape_zyx[0]);
  for (std::size_t k = 0; k < plan.levels.size(); ++k) {
    out.bytes += level.size() * sizeof(std::int16_t);
    std::vector<std::int16_t> next;
    if (k + 1 < plan.levels.size()) {
      const auto& coarser = plan.levels[k + 1];
      next.resize(static_cast<std::size_t>(ingest::voxels_of(coarser.shape_zyx)));
      ingest::halve_volume(level.data(), plan.levels[k], coarser, next.data(), pool);
    }
    voxels->add(std::move(level), scale_of(plan, plan.levels[k]));
    level = std::move(next);
  }
  out.source = std::move(voxels);
  return out;
}

}  // namespace headrace::view
