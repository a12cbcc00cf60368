#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "cli/bench_meter.hpp"
#include "cli/bench_work.hpp"
#include "cli/open_run.hpp"
#include "headrace/core/error.hpp"
#include "headrace/device/buffer.hpp"
#include "headrace/loader/plan/level_choice.hpp"

namespace headrace::cli {
namespace {

/// One patch to read: a box of a level, and its size in memory.
struct Patch {
  std::shared_ptr<const zarr::Array> array;
  zarr::RegionRead region;
  std::int64_t bytes = 0;
};

/// `origin` and `shape` are (y, x) for slides, (z, y, x) for volumes.
Patch make_patch(std::shared_ptr<const zarr::Array> array, std::vector<std::int64_t> origin,
                 std::vector<std::int64_t> shape) {
  Patch patch;
  patch.array = std::move(array);
  if (shape.size() == 2) {
    patch.bytes = shape[0] * shape[1] * 3;
    patch.region = {
        {0, origin[0], origin[1]}, {3, shape[0], shape[1]}, nullptr, {1, 3 * shape[1], 3}, {}};
  } else {
    const auto voxel = static_cast<std::int64_t>(size_of(patch.array->metadata().dtype));
    patch.bytes = shape[0] * shape[1] * shape[2] * voxel;
    patch.region = {std::move(origin),
                    shape,
                    nullptr,
                    {shape[1] * shape[2] * voxel, shape[2] * voxel, voxel},
                    {}};
  }
  return patch;
}

std::uint64_t splitmix64(std::uint64_t& state) {
  std::uint64_t z = state += 0x9E3779B97F4A7C15u;
  z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
  z = (z ^ z >> 27) * 0x94D049BB133111EBu;
  return z ^ z >> 31;
}

/// Sizes of every level, slowest axis first.
std::vector<std::vector<std::int64_t>> level_shapes(const cohort::ImageRecord& image) {
  std::vector<std::vector<std::int64_t>> shapes;
  for (const auto& level : image.levels) shapes.push_back({level.height, level.width});
  if (image.volume) {
    for (const auto& level : image.volume->levels)
      shapes.emplace_back(level.shape_zyx.begin(), level.shape_zyx.end());
  }
  return shapes;
}

std::vector<Patch> patches_by_seed(const BenchArguments& a) {
  const auto cohort = cohort::Cohort::open(a.store);
  const std::size_t image = cohort->find_image(a.image);
  const auto shapes = level_shapes(cohort->images()[image]);
  if (a.level < 0 || a.level >= static_cast<std::int64_t>(shapes.size())) {
    fail(ErrorCode::usage, "--level {}: image {} has levels 0 to {}", a.level, a.image,
         shapes.size() - 1);
  }
  const auto& extent = shapes[static_cast<std::size_t>(a.level)];
  const std::int64_t size = a.size > 0 ? a.size : extent.size() == 2 ? 512 : 96;
  for (const std::int64_t edge : extent) {
    if (edge >= size) continue;
    fail(ErrorCode::usage, "--size {}: level {} of {} has {} {}", size, a.level, a.image,
         fmt::join(extent, " x "), extent.size() == 2 ? "pixels" : "voxels");
  }
  std::vector<Patch> patches;
  std::uint64_t state = a.seed;
  for (std::uint64_t i = 0; i < a.count; ++i) {
    std::vector<std::int64_t> origin;
    for (const std::int64_t edge : extent) {
      origin.push_back(static_cast<std::int64_t>(splitmix64(state) %
                                                 static_cast<std::uint64_t>(edge - size + 1)));
    }
    patches.push_back(make_patch(cohort->image_array(image, static_cast<std::size_t>(a.level)),
                                 std::move(origin),
                                 std::vector<std::int64_t>(extent.size(), size)));
  }
  return patches;
}

/// The box of the plan's sample on its level, moved inside; not turned.
Patch patch_of_site(const RunInputs& inputs, const loader::SampleSite& site) {
  const auto& config = inputs.config;
  const auto& image = inputs.cohort->images()[site.image];
  const std::size_t k = config.volumes ? loader::choose_volume_level(image, config)
                                       : loader::choose_level(image, config.patch.mpp, config);
  std::vector<double> centre{site.centre_level0_yx[0], site.centre_level0_yx[1]}, downsample;
  std::vector<std::int64_t> shape{config.patch.height, config.patch.width};
  if (config.volumes) {
    centre.insert(centre.begin(), site.centre_level0_z);
    shape.assign(config.volume_patch.size_zyx.begin(), config.volume_patch.size_zyx.end());
    const auto& factors = image.volume->levels[k].downsample_zyx;
    downsample.assign(factors.begin(), factors.end());
  } else {
    downsample.assign(image.levels[k].downsample_yx.begin(), image.levels[k].downsample_yx.end());
  }
  const auto extent = level_shapes(image)[k];
  std::vector<std::int64_t> origin;
  for (std::size_t axis = 0; axis < extent.size(); ++axis) {
    shape[axis] = std::min(shape[axis], extent[axis]);
    origin.push_back(std::clamp<std::int64_t>(
        static_cast<std::int64_t>(centre[axis] / downsample[axis]) - shape[axis] / 2, 0,
        extent[axis] - shape[axis]));
  }
  return make_patch(inputs.cohort->image_array(site.image, k), std::move(origin), std::move(shape));
}

std::vector<Patch> patches_by_plan(const BenchArguments& a) {
  const RunInputs inputs = open_run(a.config, "", a.threads, device::DeviceChoice::cpu);
  std::vector<Patch> patches;
  for (std::uint64_t i = 0; i < a.count; ++i)
    patches.push_back(patch_of_site(inputs, inputs.plan->site(0, i)));
  return patches;
}

}  // namespace

Json bench_read(const BenchArguments& a) {
  const auto patches = a.store.empty() ? patches_by_plan(a) : patches_by_seed(a);
  ThreadPool pool(std::max(a.threads, 0));
  device::BufferPool buffers;
  std::uint64_t bytes = 0;
  for (const Patch& patch : patches) bytes += static_cast<std::uint64_t>(patch.bytes);
  const auto read_all = [&] {
    pool.parallel_for(patches.size(), [&](std::size_t i) {
      const Patch& patch = patches[i];
      auto buffer = buffers.take(static_cast<std::size_t>(patch.bytes));
      zarr::RegionRead region = patch.region;
      region.dst = buffer->data();
      patch.array->read(region);
    });
  };
  read_all();
  const Meter meter;
  read_all();
  return meter.report(patches.size(), bytes, pool.size());
}

}  // namespace headrace::cli
