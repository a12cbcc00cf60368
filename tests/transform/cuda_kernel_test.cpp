// The kernel cases on a GPU: the CPU's bytes, bit for bit. Without a GPU none of this is shown, and
// each test says so.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "headrace/core/error.hpp"
#include "headrace/transform/slide/slide_cuda_graph.hpp"
#include "prepared_case.hpp"

namespace headrace::transform {
namespace {

using device::cuda::DeviceBuffer;
using device::cuda::Stream;
using fixtures::KernelCase;
using fixtures::Prepared;
using fixtures::Result;

constexpr std::size_t kGuards = 16;

/// A case drawn several times, as one batch on the GPU: windows, and poisoned, guarded outputs.
class OnGpu {
 public:
  OnGpu(const KernelCase& c, std::size_t count, const TensorFormat& format, Stream& stream)
      : format_(format), stream_(stream) {
    for (std::size_t i = 0; i < count; ++i) {
      prepared_.push_back(std::make_unique<Prepared>(c, i));
      image_windows_.push_back(sent(prepared_[i]->image.bytes));
      label_windows_.push_back(sent(prepared_[i]->label.bytes));
    }
    const PatchSpec& patch = prepared_.front()->graph.patch();
    pixels_ = std::size_t(patch.height) * patch.width;
    image_.assign(count * 3 * pixels_ * bytes_of(format.element) + 2 * kGuards, 0xA5);
    labels_.assign(count * pixels_ + 2 * kGuards, 0xA5);
    image_out_ = sent(image_);
    labels_out_ = sent(labels_);
  }

  void start(CudaScratch& scratch) {
    std::vector<CudaPatch> images, labels;
    for (std::size_t i = 0; i < prepared_.size(); ++i) {
      const Prepared& p = *prepared_[i];
      images.push_back(
          {p.params.get(), &p.geometry, moved(p.image.view, image_windows_[i]), p.image.extent});
      labels.push_back(
          {p.params.get(), &p.geometry, moved(p.label.view, label_windows_[i]), p.label.extent});
    }
    const CudaGraph graph{prepared_.front()->graph};
    graph.images(images, format_, image_out_.as<std::uint8_t>() + kGuards, scratch, stream_);
    graph.labels(labels, 255, labels_out_.as<std::uint8_t>() + kGuards, scratch, stream_);
  }

  /// Empty when the GPU's bytes are the CPU's and its guards are whole.
  std::string difference() {
    copy_to_host(image_.data(), image_out_.as<std::uint8_t>(), image_.size(), stream_);
    copy_to_host(labels_.data(), labels_out_.as<std::uint8_t>(), labels_.size(), stream_);
    stream_.wait();
    std::vector<std::uint8_t> image(image_.size(), 0xA5), labels(labels_.size(), 0xA5);
    const std::size_t bytes = 3 * pixels_ * bytes_of(format_.element);
    for (std::size_t i = 0; i < prepared_.size(); ++i) {
      const Result cpu = prepared_[i]->run();
      convert(cpu.image.data(),
              {image.data() + kGuards + i * bytes, format_, 3, static_cast<std::int64_t>(pixels_)});
      std::copy(cpu.labels.begin(), cpu.labels.end(),
                labels.begin() + static_cast<std::ptrdiff_t>(kGuards + i * pixels_));
    }
    return compared(image_, image, "image") + compared(labels_, labels, "labels");
  }

 private:
  template <typename T>
  DeviceBuffer sent(const std::vector<T>& host) {
    DeviceBuffer buffer(host.size() * sizeof(T));
    copy_to_device(buffer.template as<T>(), host.data(), buffer.size(), stream_);
    return buffer;
  }
  static ImageView moved(ImageView view, const DeviceBuffer& to) {
    view.data = to.as<std::uint8_t>();
    return view;
  }
  /// How many bytes differ, and the first: what one wants to know of a back end that is wrong.
  static std::string compared(const std::vector<std::uint8_t>& gpu,
                              const std::vector<std::uint8_t>& cpu, const char* what) {
    std::size_t count = 0, first = 0;
    for (std::size_t i = 0; i < cpu.size(); ++i) {
      if (gpu[i] != cpu[i] && count++ == 0) first = i;
    }
    if (count == 0) return "";
    return fmt::format("{}: {} of {} bytes differ, first [{}]: GPU {}, CPU {}\n", what, count,
                       cpu.size(), first, gpu[first], cpu[first]);
  }

  TensorFormat format_;
  Stream& stream_;
  std::vector<std::unique_ptr<Prepared>> prepared_;
  std::size_t pixels_ = 0;
  std::vector<std::uint8_t> image_, labels_;
  std::vector<DeviceBuffer> image_windows_, label_windows_;
  DeviceBuffer image_out_, labels_out_;
};

class CudaKernel : public ::testing::TestWithParam<KernelCase> {
 protected:
  void SetUp() override {
    if (!device::cuda::cuda_available()) {
      GTEST_SKIP() << "not run: " << device::cuda::describe();
    }
  }
};

constexpr std::array kFormats{TensorFormat{Element::float32, Layout::channels_first},
                              TensorFormat{Element::float32, Layout::channels_last},
                              TensorFormat{Element::float16, Layout::channels_first},
                              TensorFormat{Element::bfloat16, Layout::channels_last}};

TEST_P(CudaKernel, GivesTheBytesOfTheCpu) {
  for (const TensorFormat& format : kFormats) {
    Stream stream;
    CudaScratch scratch;
    OnGpu batch(GetParam(), 8, format, stream);
    batch.start(scratch);
    ASSERT_EQ(batch.difference(), "");
  }
}

/// What a batch's kernels read must stay until they have read it: ten batches are under way before
/// the first is looked at.
TEST_P(CudaKernel, BatchesUnderWayDoNotDisturbEachOther) {
  Stream stream;
  CudaScratch scratch;
  std::vector<OnGpu> batches;
  for (std::size_t count = 1; count <= 10; ++count) {
    batches.emplace_back(GetParam(), count, kFormats[0], stream);
  }
  for (OnGpu& batch : batches) batch.start(scratch);
  for (std::size_t i = 0; i < batches.size(); ++i) ASSERT_EQ(batches[i].difference(), "") << i;
}

std::string name_of_case(const ::testing::TestParamInfo<KernelCase>& info) {
  std::string name;
  bool upper = true;
  for (const char c : info.param.name) {
    const bool letter = std::isalnum(static_cast<unsigned char>(c)) != 0;
    if (letter) name += upper ? static_cast<char>(std::toupper(c)) : c;
    upper = !letter;
  }
  return name;
}
INSTANTIATE_TEST_SUITE_P(Cases, CudaKernel, ::testing::ValuesIn(fixtures::kernel_cases()),
                         name_of_case);

}  // namespace
}  // namespace headrace::transform
