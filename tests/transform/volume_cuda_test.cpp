// The kernel cases of volumes on a GPU: the CPU's bytes, bit for bit. Without a GPU none of this is
// shown, and each test says so.
#include <gtest/gtest.h>

#include "headrace/transform/volume/cuda_graph.hpp"
#include "volume_kernel_cases.hpp"

namespace headrace::transform {
namespace {

using device::cuda::DeviceBuffer;
using device::cuda::Stream;
using testing::volume_kernel_cases;
using testing::volume_level;
using testing::VolumeResult;
using testing::VolumeSample;
using testing::VolumeSetting;
using testing::VolumeWindow;

/// A sample under way on the GPU.
class VolumeOnGpu {
 public:
  VolumeOnGpu(const VolumeSetting& setting, std::uint64_t index, Stream& stream)
      : sample_(setting, index),
        window_(volume_level(), sample_.geometry.window),
        stream_(stream),
        hu_(sent(window_.hu)),
        label_(sent(window_.label)),
        image_(sent(std::vector<float>(sample_.voxels(), std::nanf("")))),
        labels_(sent(std::vector<std::uint8_t>(sample_.voxels(), 0xEE))) {}

  void start(VolumeCudaScratch& scratch) {
    VolumeView<std::int16_t> image = window_.image;
    VolumeView<std::uint8_t> labels = window_.labels;
    image.data = hu_.as<std::int16_t>();
    labels.data = label_.as<std::uint8_t>();
    VolumeCudaGraph{sample_.graph}.run(*sample_.params, sample_.geometry, image, labels,
                                       window_.extent, 255, image_.as<float>(),
                                       labels_.as<std::uint8_t>(), scratch, stream_);
  }
  bool equals_the_cpu() {
    VolumeResult gpu{std::vector<float>(sample_.voxels()),
                     std::vector<std::uint8_t>(sample_.voxels())};
    copy_to_host(gpu.image.data(), image_.as<float>(), gpu.image.size() * sizeof(float), stream_);
    copy_to_host(gpu.labels.data(), labels_.as<std::uint8_t>(), gpu.labels.size(), stream_);
    stream_.wait();
    return gpu == sample_.run();
  }

 private:
  template <typename T>
  DeviceBuffer sent(const std::vector<T>& host) {
    DeviceBuffer buffer(host.size() * sizeof(T) + 16);
    copy_to_device(buffer.template as<T>(), host.data(), host.size() * sizeof(T), stream_);
    stream_.wait();
    return buffer;
  }

  VolumeSample sample_;
  VolumeWindow window_;
  Stream& stream_;
  DeviceBuffer hu_, label_, image_, labels_;
};

class VolumeCuda : public ::testing::TestWithParam<VolumeSetting> {
 protected:
  void SetUp() override {
    if (!device::cuda::cuda_available()) {
      GTEST_SKIP() << "not run: " << device::cuda::describe();
    }
  }
};

/// Twenty samples are under way before the first is looked at.
TEST_P(VolumeCuda, GivesTheBytesOfTheCpu) {
  Stream stream;
  VolumeCudaScratch scratch;
  std::vector<std::unique_ptr<VolumeOnGpu>> samples;
  for (std::uint64_t index = 0; index < 20; ++index) {
    samples.push_back(std::make_unique<VolumeOnGpu>(GetParam(), index, stream));
  }
  for (const auto& sample : samples) sample->start(scratch);
  for (const auto& sample : samples) EXPECT_TRUE(sample->equals_the_cpu());
}

INSTANTIATE_TEST_SUITE_P(Cases, VolumeCuda, ::testing::ValuesIn(volume_kernel_cases()),
                         [](const auto& info) {
                           std::string name = info.param.name;
                           for (char& c : name) c = std::isalnum(c) != 0 ? c : '_';
                           return name;
                         });

}  // namespace
}  // namespace headrace::transform
