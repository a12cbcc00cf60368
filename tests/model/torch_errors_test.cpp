#include "headrace/model/torch_errors.hpp"

#include <ATen/ops/empty.h>
#include <c10/util/Exception.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

#include "tests/core/error_of.hpp"

namespace headrace::model {
namespace {

constexpr c10::SourceLocation kHere{"here", "file.cu", 1};

TEST(TorchErrors, OfMemoryAreASentenceThatSaysWhatToLower) {
  // As CUDA's allocator words it.
  const c10::OutOfMemoryError of_gpu(
      kHere,
      "CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 79.10 GiB of "
      "which 1.20 GiB is free. Including non-PyTorch memory, this process has 77.90 GiB memory in "
      "use. See documentation");
  EXPECT_EQ(
      error_of(ErrorCode::memory, [&] { in_words([&] { throw of_gpu; }); })
          .rfind(
              "LibTorch: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of "
              "79.10 GiB of which 1.20 GiB is free. Lower sampling.batch",
              0),
      0u);
  const c10::AcceleratorError of_driver(kHere, 2, "CUDA error: out of memory\nSearch for it");
  EXPECT_EQ(error_of(ErrorCode::memory, [&] { in_words([&] { throw of_driver; }); })
                .rfind("LibTorch: CUDA error: out of memory. Lower sampling.batch", 0),
            0u);
  const std::string of_host = error_of(ErrorCode::memory, [] {
    in_words([] { return at::empty({std::int64_t{1} << 58}, at::kByte); });
  });
  EXPECT_EQ(of_host.find('\n'), of_host.npos) << of_host;
}

TEST(TorchErrors, OfCudaAreItsFirstLine) {
  const c10::AcceleratorError error(kHere, 700,
                                    "CUDA error: an illegal memory access was encountered\nSearch "
                                    "for `cudaErrorIllegalAddress'");
  EXPECT_EQ(error_of(ErrorCode::device, [&] { in_words([&] { throw error; }); }),
            "LibTorch: CUDA error: an illegal memory access was encountered");
}

TEST(TorchErrors, OfAnyOtherKindHaveNoListOfCalls) {
  const std::string text = error_of(ErrorCode::internal, [] {
    in_words([] { return at::empty({2, 3}, at::kFloat).view({4}); });
  });
  EXPECT_EQ(text.rfind("LibTorch: shape '[4]' is invalid", 0), 0u) << text;
  EXPECT_EQ(text.find('\n'), text.npos) << text;
}

TEST(TorchErrors, OfOthersAreLeftAlone) {
  EXPECT_THROW(in_words([] { throw std::out_of_range("x"); }), std::out_of_range);
  EXPECT_EQ(error_of(ErrorCode::io, [] { in_words([] { fail(ErrorCode::io, "a disk"); }); }),
            "a disk");
  EXPECT_EQ(in_words([] { return 7; }), 7);
}

}  // namespace
}  // namespace headrace::model
