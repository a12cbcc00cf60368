// The kernel cases on a GPU: the CPU's bytes, bit for bit. Without a GPU none of this is shown, and
// each test says so.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>

#include "headrace/core/error.hpp"
#include "headrace/transform/cuda_graph.hpp"
#include "prepared_case.hpp"

namespace headrace::transform {
namespace {

using device::cuda::DeviceBuffer;
using device::cuda::Stream;
using testing::KernelCase;
using testing::kGuard;
using testing::Prepared;
using testing::Result;

constexpr std::size_t kGuards = 16;

/// The patch of one case on the GPU: window and poisoned, guarded outputs.
class OnGpu {
 public:
  OnGpu(const Prepared& prepared, Stream& stream) : p_(prepared), stream_(stream) {
    const PatchSpec& patch = p_.graph.patch();
    const std::size_t pixels = std::size_t(patch.height) * patch.width;
    image_.assign(3 * pixels + 2 * kGuards, std::nanf(""));
    std::fill_n(image_.begin(), kGuards, kGuard);
    std::fill_n(image_.rbegin(), kGuards, kGuard);
    labels_.assign(pixels + 2 * kGuards, 0xA5);
    image_window_ = sent(p_.image.bytes);
    label_window_ = sent(p_.label.bytes);
    image_out_ = sent(image_);
    labels_out_ = sent(labels_);
  }

  void start(CudaScratch& scratch) {
    const CudaGraph graph{p_.graph};
    graph.image(*p_.params, p_.geometry, moved(p_.image.view, image_window_), p_.image.extent,
                image_out_.as<float>() + kGuards, scratch, stream_);
    graph.labels(*p_.params, p_.geometry, moved(p_.label.view, label_window_), p_.label.extent, 255,
                 labels_out_.as<std::uint8_t>() + kGuards, scratch, stream_);
  }

  Result result() {
    copy_to_host(image_.data(), image_out_.as<float>(), image_.size() * sizeof(float), stream_);
    copy_to_host(labels_.data(), labels_out_.as<std::uint8_t>(), labels_.size(), stream_);
    stream_.wait();
    for (std::size_t i = 0; i < kGuards; ++i) {
      EXPECT_EQ(image_[i], kGuard);
      EXPECT_EQ(image_[image_.size() - 1 - i], kGuard);
      EXPECT_EQ(labels_[i], 0xA5);
      EXPECT_EQ(labels_[labels_.size() - 1 - i], 0xA5);
    }
    return {{image_.begin() + kGuards, image_.end() - kGuards},
            {labels_.begin() + kGuards, labels_.end() - kGuards}};
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

  const Prepared& p_;
  Stream& stream_;
  std::vector<float> image_;
  std::vector<std::uint8_t> labels_;
  DeviceBuffer image_window_, label_window_, image_out_, labels_out_;
};

/// How many values differ, and the first: what one wants to know of a back end that is wrong.
std::string difference(const Result& gpu, const Result& cpu) {
  std::string text;
  const auto compare = [&text](const auto& a, const auto& b, const char* what) {
    std::size_t count = 0, first = 0;
    for (std::size_t i = 0; i < b.size(); ++i) {
      if (std::memcmp(&a[i], &b[i], sizeof a[i]) != 0 && count++ == 0) first = i;
    }
    if (count > 0) {
      text += fmt::format("{}: {} of {} values differ, first [{}]: GPU {}, CPU {}\n", what, count,
                          b.size(), first, a[first], b[first]);
    }
  };
  compare(gpu.image, cpu.image, "image");
  compare(gpu.labels, cpu.labels, "labels");
  return text;
}

class CudaKernel : public ::testing::TestWithParam<KernelCase> {
 protected:
  void SetUp() override {
    if (!device::cuda::cuda_available()) {
      GTEST_SKIP() << "not run: " << device::cuda::describe();
    }
  }
};

TEST_P(CudaKernel, GivesTheBytesOfTheCpu) {
  for (std::uint64_t index = 0; index < 8; ++index) {
    const Prepared p(GetParam(), index);
    Stream stream;
    CudaScratch scratch;
    OnGpu patch(p, stream);
    patch.start(scratch);
    ASSERT_EQ(difference(patch.result(), p.run()), "") << "index " << index;
  }
}

/// Control values of a patch must stay until its kernel has read them: forty patches are under way
/// before the first is looked at.
TEST_P(CudaKernel, PatchesUnderWayDoNotDisturbEachOther) {
  constexpr std::uint64_t kPatches = 40;
  Stream stream;
  CudaScratch scratch;
  std::vector<std::unique_ptr<Prepared>> prepared;
  std::vector<OnGpu> patches;
  for (std::uint64_t index = 0; index < kPatches; ++index) {
    prepared.push_back(std::make_unique<Prepared>(GetParam(), index));
    patches.emplace_back(*prepared.back(), stream);
  }
  for (OnGpu& patch : patches) patch.start(scratch);
  for (std::size_t i = 0; i < patches.size(); ++i) {
    ASSERT_EQ(difference(patches[i].result(), prepared[i]->run()), "") << "patch " << i;
  }
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
INSTANTIATE_TEST_SUITE_P(Cases, CudaKernel, ::testing::ValuesIn(testing::kernel_cases()),
                         name_of_case);

}  // namespace
}  // namespace headrace::transform
