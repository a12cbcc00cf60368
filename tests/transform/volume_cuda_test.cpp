// The kernel cases of volumes on a GPU: the CPU's bytes, bit for bit. Without a GPU none of this is
// shown, and each test says so.
#include <gtest/gtest.h>

#include "headrace/transform/volume/volume_cuda_graph.hpp"
#include "volume_kernel_cases.hpp"

namespace headrace::transform {
namespace {

using device::cuda::DeviceBuffer;
using device::cuda::Stream;
using fixtures::volume_kernel_cases;
using fixtures::volume_level;
using fixtures::VolumeResult;
using fixtures::VolumeSample;
using fixtures::VolumeSetting;
using fixtures::VolumeWindow;

/// A batch of samples under way on the GPU.
class VolumesOnGpu {
 public:
  VolumesOnGpu(const VolumeSetting& setting, std::size_t count, Element element, Stream& stream)
      : element_(element), stream_(stream) {
    for (std::size_t i = 0; i < count; ++i) {
      const VolumeSample& sample = samples_.emplace_back(setting, i);
      const VolumeWindow& w = windows_.emplace_back(volume_level(), sample.geometry.window);
      hu_.push_back(sent(w.hu));
      label_.push_back(sent(w.label));
    }
    voxels_ = samples_.front().voxels();
    image_.assign(count * voxels_ * bytes_of(element), 0xA5);
    labels_.assign(count * voxels_, 0xA5);
    image_out_ = sent(image_);
    labels_out_ = sent(labels_);
  }

  void start(VolumeCudaScratch& scratch) {
    std::vector<VolumePatch> patches;
    for (std::size_t i = 0; i < samples_.size(); ++i) {
      VolumePatch& p = patches.emplace_back(VolumePatch{samples_[i].params.get(),
                                                        &samples_[i].geometry, windows_[i].image,
                                                        windows_[i].labels, windows_[i].extent});
      p.image.data = hu_[i].as<std::int16_t>();
      p.labels.data = label_[i].as<std::uint8_t>();
    }
    VolumeCudaGraph{samples_.front().graph}.run(patches, 255, element_, image_out_.as<std::byte>(),
                                                labels_out_.as<std::uint8_t>(), scratch, stream_);
  }
  void expect_the_bytes_of_the_cpu() {
    copy_to_host(image_.data(), image_out_.as<std::uint8_t>(), image_.size(), stream_);
    copy_to_host(labels_.data(), labels_out_.as<std::uint8_t>(), labels_.size(), stream_);
    stream_.wait();
    std::vector<std::uint8_t> image(image_.size()), labels;
    const std::size_t bytes = voxels_ * bytes_of(element_);
    for (std::size_t i = 0; i < samples_.size(); ++i) {
      const VolumeResult cpu = samples_[i].run();
      convert(cpu.image.data(),
              {image.data() + i * bytes, {element_, {}}, 1, static_cast<std::int64_t>(voxels_)});
      labels.insert(labels.end(), cpu.labels.begin(), cpu.labels.end());
    }
    EXPECT_TRUE(image_ == image);
    EXPECT_TRUE(labels_ == labels);
  }

 private:
  template <typename T>
  DeviceBuffer sent(const std::vector<T>& host) {
    DeviceBuffer buffer(host.size() * sizeof(T) + 16);
    copy_to_device(buffer.template as<T>(), host.data(), host.size() * sizeof(T), stream_);
    stream_.wait();
    return buffer;
  }

  Element element_;
  Stream& stream_;
  std::vector<VolumeSample> samples_;
  std::vector<VolumeWindow> windows_;
  std::vector<DeviceBuffer> hu_, label_;
  std::size_t voxels_ = 0;
  std::vector<std::uint8_t> image_, labels_;
  DeviceBuffer image_out_, labels_out_;
};

class VolumeCuda : public ::testing::TestWithParam<VolumeSetting> {
 protected:
  void SetUp() override {
    if (!device::cuda::cuda_available()) {
      GTEST_SKIP() << "not run: " << device::cuda::describe();
    }
  }
};

/// Six batches are under way before the first is looked at.
TEST_P(VolumeCuda, GivesTheBytesOfTheCpu) {
  Stream stream;
  VolumeCudaScratch scratch;
  std::vector<std::unique_ptr<VolumesOnGpu>> batches;
  for (const std::size_t count : {5, 1, 7, 3, 4, 2}) {
    const Element element = count % 2 == 1 ? Element::float32 : Element::bfloat16;
    batches.push_back(std::make_unique<VolumesOnGpu>(GetParam(), count, element, stream));
  }
  for (const auto& batch : batches) batch->start(scratch);
  for (const auto& batch : batches) batch->expect_the_bytes_of_the_cpu();
}

INSTANTIATE_TEST_SUITE_P(Cases, VolumeCuda, ::testing::ValuesIn(volume_kernel_cases()),
                         [](const auto& info) {
                           std::string name = info.param.name;
                           for (char& c : name) c = std::isalnum(c) != 0 ? c : '_';
                           return name;
                         });

}  // namespace
}  // namespace headrace::transform
