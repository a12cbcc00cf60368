#include <gtest/gtest.h>

#include <set>
#include <thread>

#include "forced_isa.hpp"
#include "headrace/device/buffer.hpp"
#include "headrace/transform/volume/batch_launch.hpp"
#include "headrace/transform/volume/volume_spec.hpp"
#include "volume_kernel_cases.hpp"

namespace headrace::transform {
namespace {

using fixtures::ForcedIsa;
using fixtures::volume_kernel_cases;
using fixtures::volume_level;
using fixtures::VolumeResult;
using fixtures::VolumeSample;
using fixtures::VolumeSetting;
using fixtures::VolumeWindow;

TEST(VolumeKernel, EveryInstructionSetGivesTheSameBytes) {
  for (const VolumeSetting& c : volume_kernel_cases()) {
    const VolumeSample sample(c);
    VolumeResult v1;
    {
      const ForcedIsa isa("v1");
      v1 = sample.run();
    }
    for (const char* name : {"v2", "v3", "v4"}) {
      const ForcedIsa isa(name);
      if (isa.lacking()) continue;
      EXPECT_TRUE(sample.run() == v1) << c.name << " " << name;
    }
  }
}

constexpr std::size_t kGuards = 64;

/// Samples as one batch, in the form of one thread a value, run by the host in memory that is
/// poisoned, with guards around the outputs.
class ByVoxels {
 public:
  explicit ByVoxels(const std::vector<VolumeSample>& samples) : samples_(samples) {
    for (const VolumeSample& s : samples) windows_.emplace_back(volume_level(), s.geometry.window);
  }

  /// Empty where every sample's bytes are `rows` in that format. Every sample but those of
  /// `labelled` is given without labels.
  std::string difference(const std::vector<VolumeResult>& rows, Element element,
                         std::size_t labelled) {
    const VolumeGraph& graph = samples_.front().graph;
    const std::size_t voxels = samples_.front().voxels(), bytes = voxels * bytes_of(element);
    std::vector<VolumePatch> patches;
    for (std::size_t i = 0; i < samples_.size(); ++i) {
      patches.push_back({samples_[i].params.get(), &samples_[i].geometry, windows_[i].image,
                         i < labelled ? windows_[i].labels : VolumeView<std::uint8_t>{},
                         windows_[i].extent});
    }
    const VolumeBatch batch(graph, patches);
    device::HostBuffer staging(batch.staging_bytes()), work(batch.work_bytes());
    std::memset(work.data(), 0xFF, work.size());
    std::vector<std::byte> image(samples_.size() * bytes + 2 * kGuards, std::byte{0xA5});
    std::vector<std::uint8_t> labels(samples_.size() * voxels + 2 * kGuards, 0xA5);
    const VolumeTensor out{image.data() + kGuards, element, static_cast<std::int64_t>(voxels)};
    for (const VolumeLaunch& launch :
         batch.write(staging.data(), staging.data(), work.data(), 255, labels.data() + kGuards)) {
      run_launch(launch, out,
                 [](std::int32_t items, std::int32_t elements, const auto& kernel, const char*) {
                   for (std::int32_t item = 0; item < items; ++item) {
                     for (std::int32_t i = 0; i < elements; ++i) kernel(item, i);
                   }
                 });
    }
    std::vector<std::byte> wanted(image.size(), std::byte{0xA5});
    std::vector<std::uint8_t> wanted_labels(labels.size(), 0xA5);
    for (std::size_t i = 0; i < samples_.size(); ++i) {
      convert(rows[i].image.data(),
              {wanted.data() + kGuards + i * bytes, {element, {}}, 1, out.voxels});
      std::copy(rows[i].labels.begin(), rows[i].labels.end(),
                wanted_labels.begin() + static_cast<std::ptrdiff_t>(kGuards + i * voxels));
      if (i >= labelled) {
        std::fill_n(wanted_labels.begin() + static_cast<std::ptrdiff_t>(kGuards + i * voxels),
                    voxels, std::uint8_t{255});
      }
    }
    return std::string(image == wanted ? "" : "images ") +
           (labels == wanted_labels ? "" : "labels");
  }

 private:
  const std::vector<VolumeSample>& samples_;
  std::vector<VolumeWindow> windows_;
};

/// The form of one voxel is what a GPU runs, with the very launches that it is given: compiled here
/// by the host compiler. Samples of a batch draw different passes.
TEST(VolumeKernel, ABatchOneVoxelAtATimeGivesTheBytesOfRows) {
  for (VolumeSetting c : volume_kernel_cases()) {
    std::vector<VolumeSample> samples;
    std::vector<VolumeResult> rows;
    for (const std::uint64_t index : {5, 6, 7})
      rows.push_back(samples.emplace_back(c, index).run());
    ByVoxels batch(samples);
    EXPECT_EQ(batch.difference(rows, Element::float32, 3), "") << c.name;
    EXPECT_EQ(batch.difference(rows, Element::float16, 2), "") << c.name;
    EXPECT_EQ(batch.difference(rows, Element::bfloat16, 0), "") << c.name;
  }
}

/// Not every sample takes part in every pass.
TEST(VolumeKernel, PassesOfABatchAreOnlyForThoseThatDrewThem) {
  VolumeSetting c;
  c.patch = {{9, 12, 21}, {1.5, 1.5, 1.5}};
  VolumeElasticSpec elastic{4, 5, 0.5};
  c.specs = {elastic, WindowHuSpec{-160, 240}, VolumeBlurSpec{{0.5, 2}, 0.5},
             VolumeContrastSpec{{0.75, 1.25}, 0.5, true, true}, LowResolutionSpec{{0.4, 0.9}, 0.5}};
  std::vector<VolumeSample> samples;
  std::vector<VolumeResult> rows;
  std::set<std::size_t> passes;
  for (std::uint64_t index = 0; index < 16; ++index) {
    rows.push_back(samples.emplace_back(c, index).run());
    passes.insert(samples.back().params->passes.size());
  }
  EXPECT_GE(passes.size(), 3u);
  ByVoxels batch(samples);
  for (const Element element : {Element::float32, Element::float16, Element::bfloat16})
    EXPECT_EQ(batch.difference(rows, element, 9), "");
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

/// The bytes of every case in a unit, folded by FNV-1a.
std::uint64_t bytes_of_cases(IntensityUnit unit) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  const auto fold = [&hash](const void* data, std::size_t size) {
    for (std::size_t i = 0; i < size; ++i) {
      hash = (hash ^ static_cast<const unsigned char*>(data)[i]) * 0x100000001b3u;
    }
  };
  for (const VolumeSetting& c : volume_kernel_cases()) {
    if (c.channel.unit != unit) continue;
    const VolumeResult r = VolumeSample(c).run();
    fold(r.image.data(), r.image.size() * sizeof(float));
    fold(r.labels.data(), r.labels.size());
  }
  return hash;
}

/// Changes only with intent ("Results change" in the changelog).
TEST(VolumeKernel, BytesAreThoseOfTheGolden) {
  const std::uint64_t hu = bytes_of_cases(IntensityUnit::hu),
                      suv = bytes_of_cases(IntensityUnit::suv);
  EXPECT_EQ(hu, 0xbdf1879b14ef5736u) << std::hex << hu;
  EXPECT_EQ(suv, 0x272038f668636188u) << std::hex << suv;
}

}  // namespace
}  // namespace headrace::transform
