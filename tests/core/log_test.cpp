#include "headrace/core/log.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace headrace::log {
namespace {

TEST(Log, GoesToTheSinkFromTheLowestLevelOn) {
  std::vector<std::string> lines;
  set_sink([&](Level level, const std::string& line) {
    lines.push_back((level == Level::warning ? "W " : "I ") + line);
  });
  info("{} of {}", 1, 2);
  debug("too low");
  set_level(Level::warning);
  info("too low");
  warning("{} is gone", "a.tif");
  set_level(Level::off);
  warning("too low");
  set_level(Level::info);
  EXPECT_EQ(lines, (std::vector<std::string>{"I 1 of 2", "W a.tif is gone"}));
  set_sink({});
  warning("heard by no one");
  EXPECT_EQ(lines.size(), 2u);
}

TEST(Log, IsSilentUntilThereIsASink) {
  ::testing::internal::CaptureStderr();
  ::testing::internal::CaptureStdout();
  warning("heard by no one");
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
  EXPECT_EQ(::testing::internal::GetCapturedStdout(), "");
}

}  // namespace
}  // namespace headrace::log
