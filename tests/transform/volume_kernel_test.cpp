#include <gtest/gtest.h>

#include <thread>

#include "forced_isa.hpp"
#include "headrace/transform/volume/place.hpp"
#include "headrace/transform/volume/voxel.hpp"
#include "volume_kernel_cases.hpp"

namespace headrace::transform {
namespace {

using testing::ForcedIsa;
using testing::volume_kernel_cases;
using testing::volume_level;
using testing::VolumeResult;
using testing::VolumeSample;
using testing::VolumeSetting;
using testing::VolumeWindow;

TEST(VolumeKernel, EveryInstructionSetGivesTheSameBytes) {
  for (const VolumeSetting& c : volume_kernel_cases()) {
    const VolumeSample sample(c);
    VolumeResult v1;
    {
      const ForcedIsa isa("v1");
      v1 = sample.run();
    }
    for (const char* name : {"v2", "v3"}) {
      const ForcedIsa isa(name);
      if (isa.lacking()) continue;
      EXPECT_TRUE(sample.run() == v1) << c.name << " " << name;
    }
  }
}

template <typename Value>
void for_each(std::int64_t count, const Value& value) {
  for (std::int64_t i = 0; i < count; ++i) value(i);
}

/// What VolumeGraph::run does, in the form of one thread a value.
class ByVoxels {
 public:
  ByVoxels(const VolumeSample& sample, VolumeResult& out) : sample_(sample), out_(out) {}

  void run() {
    const VolumePatchSpec& patch = sample_.graph.patch();
    const VolumeParams& params = *sample_.params;
    const VolumeWindow window(volume_level(), sample_.geometry.window);
    const auto voxels = static_cast<std::int64_t>(sample_.voxels());
    const std::int32_t width = patch.size_zyx[2], rows = static_cast<std::int32_t>(voxels / width);
    float* dst = out_.image.data();
    std::vector<float> other(sample_.voxels());
    std::vector<RowSums> sums(static_cast<std::size_t>(rows));
    std::vector<PatchStatistics> statistics(params.passes.size());
    for (std::size_t i = 0; i < params.passes.size(); ++i) {
      const VolumePass& pass = params.passes[i];
      if (i == 0) {
        gather(window, dst);
      } else if (pass.kind == VolumePass::Kind::stages) {
        VolumeStages resolved;
        for_each(1, ResolvedStages{pass.stages, statistics.data(), &resolved});
        for_each(voxels, StagesVoxel{&resolved, width, dst});
      } else if (pass.kind == VolumePass::Kind::blur) {
        const VolumeBlurKernel k = volume_blur_kernel(pass.sigma, patch, dst);
        for_each(voxels, VolumeBlurVoxel{k, 2, dst, other.data()});
        for_each(voxels, VolumeBlurVoxel{k, 1, other.data(), dst});
        for_each(voxels, VolumeBlurVoxel{k, 0, dst, other.data()});
        std::copy(other.begin(), other.end(), dst);
      } else {
        const LowResolutionKernel k = low_resolution_kernel(pass.small, patch, dst);
        for_each(std::int64_t{k.small[0]} * k.small[1] * k.small[2], ReducedVoxel{k, other.data()});
        for_each(voxels, EnlargedVoxel{k, other.data()});
      }
      if (!pass.statistics) continue;
      for_each(rows, RowSumsValue{dst, width, sums.data()});
      for_each(1, PatchStatisticsValue{sums.data(), rows, width, dst, &statistics[i]});
    }
  }

 private:
  void gather(const VolumeWindow& window, float* dst) {
    const VolumePatchSpec& patch = sample_.graph.patch();
    const VolumeGeometry& geometry = sample_.geometry;
    const auto smoothing = smoothing_of(*sample_.params, geometry.scale_zyx);
    VolumeView<std::int16_t> from = window.image;
    std::vector<std::vector<std::int16_t>> smooth;
    for (const int axis : {2, 1, 0}) {
      const AxisSmoothing& s = smoothing[static_cast<std::size_t>(axis)];
      if (s.radius == 0) continue;
      smooth.emplace_back(static_cast<std::size_t>(from.slice_stride * from.shape_zyx[0] + 8), 77);
      SmoothKernel k = smooth_kernel(s, axis, window.extent, geometry.window);
      k.src = from.data;
      k.dst = smooth.back().data();
      k.src_row = k.dst_row = from.row_stride;
      k.src_slice = k.dst_slice = from.slice_stride;
      for_each(
          std::int64_t{k.end[0] - k.begin[0]} * (k.end[1] - k.begin[1]) * (k.end[2] - k.begin[2]),
          SmoothVoxel{k});
      from.data = k.dst;
    }
    ControlVoxels controls;
    const VolumeKernel k = volume_kernel(*sample_.params, patch, geometry, from, window.labels,
                                         window.extent, 255, dst, out_.labels.data(), controls);
    const std::int32_t grid = k.placement.grid;
    const std::int64_t values = std::int64_t{k.size[0]} * k.size[1] * 3 * (grid + 3);
    std::vector<float> rows(grid == 0 ? 0 : static_cast<std::size_t>(values));
    if (grid > 0) for_each(values, RowControlValue{k.placement, k.size[1], rows.data()});
    for_each(static_cast<std::int64_t>(out_.image.size()), VolumeVoxel{k, rows.data()});
  }

  const VolumeSample& sample_;
  VolumeResult& out_;
};

/// The form of one voxel is what a GPU runs: compiled here by the host compiler.
TEST(VolumeKernel, OneVoxelAtATimeGivesTheBytesOfRows) {
  for (const VolumeSetting& c : volume_kernel_cases()) {
    const VolumeSample sample(c);
    const VolumeResult rows = sample.run();
    VolumeResult voxels{std::vector<float>(rows.image.size(), std::nanf("")),
                        std::vector<std::uint8_t>(rows.labels.size(), 0xEE)};
    ByVoxels(sample, voxels).run();
    EXPECT_TRUE(voxels.labels == rows.labels) << c.name;
    EXPECT_TRUE(voxels == rows) << c.name;
  }
}

TEST(VolumeKernel, OutputsAreNumbersAlone) {
  for (const VolumeSetting& c : volume_kernel_cases()) {
    for (const float v : VolumeSample(c).run().image) ASSERT_TRUE(std::isfinite(v)) << c.name;
  }
}

TEST(VolumeKernel, LabelsDoNotChangeTheImage) {
  for (const VolumeSetting& c : volume_kernel_cases()) {
    const VolumeSample sample(c);
    const VolumeResult alone = sample.run(volume_level(), false);
    EXPECT_TRUE(alone.image == sample.run().image) << c.name;
    for (const std::uint8_t label : alone.labels) ASSERT_EQ(label, 0xA5) << c.name;
  }
}

TEST(VolumeKernel, ThreadsAndReusedScratchDoNotMatter) {
  const auto cases = volume_kernel_cases();
  std::vector<VolumeResult> alone(cases.size()), together(cases.size());
  for (std::size_t i = 0; i < cases.size(); ++i) alone[i] = VolumeSample(cases[i]).run();
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < 3; ++t) {
    threads.emplace_back([&, t] {
      VolumeScratch scratch;  // goes from case to case, so from size to size
      for (std::size_t i = t; i < cases.size(); i += 3) {
        together[i] = VolumeSample(cases[i]).run(volume_level(), true, scratch);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (std::size_t i = 0; i < cases.size(); ++i) EXPECT_TRUE(together[i] == alone[i]) << i;
}

/// Changes only with intent ("Results change" in the changelog): the bytes of every case, folded by
/// FNV-1a.
TEST(VolumeKernel, BytesAreThoseOfTheGolden) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  const auto fold = [&hash](const void* data, std::size_t size) {
    for (std::size_t i = 0; i < size; ++i) {
      hash = (hash ^ static_cast<const unsigned char*>(data)[i]) * 0x100000001b3u;
    }
  };
  for (const VolumeSetting& c : volume_kernel_cases()) {
    const VolumeResult r = VolumeSample(c).run();
    fold(r.image.data(), r.image.size() * sizeof(float));
    fold(r.labels.data(), r.labels.size());
  }
  EXPECT_EQ(hash, 0xbdf1879b14ef5736u) << std::hex << hash;
}

}  // namespace
}  // namespace headrace::transform
