#include "learn/model/precision.hpp"

#include <c10/util/Exception.h>
#include <gtest/gtest.h>

#include <functional>
#include <new>
#include <string>
#include <vector>

#include "headrace/core/error.hpp"
#include "headrace/core/log.hpp"

// A GPU without a deterministic algorithm is stood in for by an attempt that throws what LibTorch
// throws there.
namespace headrace::model {
namespace {

struct Gpu {
  bool has_bfloat16 = true, has_float32 = true;
  std::vector<bool> tried = {};  ///< in bfloat16?

  void operator()(const Runtime& runtime) {
    tried.push_back(runtime.bfloat16);
    TORCH_CHECK(runtime.bfloat16 ? has_bfloat16 : has_float32,
                "GET was unable to find an engine to execute this computation");
  }
  Runtime settled(AutoSwitch amp, bool deterministic) {
    Runtime runtime;
    runtime.bfloat16 = true;
    settle_precision(runtime, amp, deterministic, std::ref(*this));
    return runtime;
  }
};

TEST(Precision, IsMixedWhereAStepIsTaken) {
  Gpu gpu;
  EXPECT_TRUE(gpu.settled(AutoSwitch::automatic, true).bfloat16);
  EXPECT_EQ(gpu.tried, std::vector<bool>{true});
}

TEST(Precision, IsFloat32WhereOnlyThatIsDeterministic) {
  Gpu gpu{.has_bfloat16 = false};
  std::string said;
  log::set_sink([&](log::Level, const std::string& line) { said += line; });
  EXPECT_FALSE(gpu.settled(AutoSwitch::automatic, true).bfloat16);
  log::set_sink({});
  EXPECT_NE(said.find("unable to find an engine"), said.npos) << said;
  EXPECT_NE(said.find("training in float32"), said.npos) << said;
  EXPECT_EQ(gpu.tried, (std::vector<bool>{true, false}));
}

TEST(Precision, ThatWasAskedForIsNeverExchanged) {
  Gpu gpu{.has_bfloat16 = false};
  try {
    gpu.settled(AutoSwitch::on, true);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::unsupported);
    EXPECT_NE(std::string(error.what()).find("train.deterministic: false"), std::string::npos);
  }
}

TEST(Precision, OfAStepThatFailsInFloat32TooIsNotTheReason) {
  Gpu gpu{.has_bfloat16 = false, .has_float32 = false};
  EXPECT_THROW(gpu.settled(AutoSwitch::automatic, true), c10::Error);
}

/// A training in float32, which takes more, would be no answer.
TEST(Precision, IsNotRefusedByAGpuThatLacksMemory) {
  constexpr c10::SourceLocation kHere{"here", "file.cu", 1};
  const std::vector<std::function<void()>> lacking{
      [&] { throw c10::OutOfMemoryError(kHere, "CUDA out of memory"); },
      [&] { throw c10::AcceleratorError(kHere, 2, "CUDA error: out of memory"); },
      [&] { throw c10::Error(kHere, "CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `x`"); },
      [&] { throw c10::Error(kHere, "cuDNN error: CUDNN_STATUS_ALLOC_FAILED"); },
      [] { throw std::bad_alloc(); }};
  for (const std::function<void()>& fails : lacking) {
    Runtime runtime;
    runtime.bfloat16 = true;
    int tried = 0;
    const auto attempt = [&](const Runtime&) {
      ++tried;
      fails();
    };
    EXPECT_ANY_THROW(settle_precision(runtime, AutoSwitch::automatic, true, attempt));
    EXPECT_EQ(tried, 1);
    EXPECT_TRUE(runtime.bfloat16);
  }
}

TEST(Precision, IsNotTriedWhereAnyAlgorithmMayBeTaken) {
  Gpu gpu{.has_bfloat16 = false};
  EXPECT_TRUE(gpu.settled(AutoSwitch::automatic, false).bfloat16);
  EXPECT_TRUE(gpu.tried.empty());
}

}  // namespace
}  // namespace headrace::model
