#include "headrace/model/precision.hpp"

#include <c10/util/Exception.h>
#include <gtest/gtest.h>

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

TEST(Precision, IsNotTriedWhereAnyAlgorithmMayBeTaken) {
  Gpu gpu{.has_bfloat16 = false};
  EXPECT_TRUE(gpu.settled(AutoSwitch::automatic, false).bfloat16);
  EXPECT_TRUE(gpu.tried.empty());
}

}  // namespace
}  // namespace headrace::model
