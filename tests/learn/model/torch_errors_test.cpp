#include "learn/model/torch_errors.hpp"

#include <ATen/ops/empty.h>
#include <c10/util/Exception.h>
#include <gtest/gtest.h>

#include <new>
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
  EXPECT_EQ(of_host.rfind("LibTorch: ", 0), 0u) << of_host;
  EXPECT_NE(of_host.find("can't allocate memory"), of_host.npos) << of_host;
  EXPECT_NE(of_host.find(". Lower sampling.batch"), of_host.npos) << of_host;
  EXPECT_EQ(of_host.find('\n'), of_host.npos) << of_host;
}

/// Where cuBLAS or cuDNN lacks memory, LibTorch has no type for it.
TEST(TorchErrors, OfLibrariesThatLackMemoryAreOfMemory) {
  for (const std::string text :
       {"CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling "
        "`cublasCreate(handle)`",
        "cuDNN error: CUDNN_STATUS_ALLOC_FAILED",
        "cuDNN error: CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED",
        "cuDNN error: CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED"}) {
    const c10::Error error(kHere, text);
    EXPECT_TRUE(lacks_memory(error)) << text;
    EXPECT_EQ(error_of(ErrorCode::memory, [&] { in_words([&] { throw error; }); })
                  .rfind("LibTorch: " + text + ". Lower sampling.batch", 0),
              0u);
  }
  for (const char* text : {"CUDA error: CUBLAS_STATUS_NOT_SUPPORTED when calling `cublasGemmEx`",
                           "cuDNN error: CUDNN_STATUS_NOT_SUPPORTED"})
    EXPECT_FALSE(lacks_memory(c10::Error(kHere, text))) << text;
  EXPECT_TRUE(lacks_memory(std::bad_alloc()));
  EXPECT_FALSE(lacks_memory(std::runtime_error("x")));
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
