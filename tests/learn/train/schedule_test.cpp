#include "learn/train/schedule.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace headrace::train {
namespace {

TEST(LearningRate, CosineFallsFromTheTopToZero) {
  config::RunConfig::Train config;
  config.lr = 0.4;
  EXPECT_DOUBLE_EQ(learning_rate(config, 0, 100), 0.4);
  EXPECT_NEAR(learning_rate(config, 25, 100), 0.4 * (1 + std::sqrt(0.5)) / 2, 1e-12);
  EXPECT_NEAR(learning_rate(config, 50, 100), 0.2, 1e-12);
  EXPECT_NEAR(learning_rate(config, 100, 100), 0, 1e-12);
}

TEST(LearningRate, WarmUpRisesLinearlyThenTheScheduleStarts) {
  config::RunConfig::Train config;
  config.lr = 1;
  config.warmup_steps = 4;
  EXPECT_DOUBLE_EQ(learning_rate(config, 0, 100), 0.25);
  EXPECT_DOUBLE_EQ(learning_rate(config, 3, 100), 1);
  EXPECT_DOUBLE_EQ(learning_rate(config, 4, 100), 1);
  EXPECT_NEAR(learning_rate(config, 52, 100), 0.5, 1e-12);
}

/// nnU-Net's PolyLRScheduler: initial_lr * (1 - current_step / max_steps) ** 0.9, in Python.
TEST(LearningRate, PolyFallsAsNnunets) {
  config::RunConfig::Train config;
  config.lr = 0.01;
  config.schedule = config::Schedule::poly;
  EXPECT_DOUBLE_EQ(learning_rate(config, 0, 1000), 0.01);
  EXPECT_NEAR(learning_rate(config, 500, 1000), 0.005358867312681466, 1e-17);
  EXPECT_NEAR(learning_rate(config, 999, 1000), 1.995262314968881e-05, 1e-17);
  config.warmup_steps = 10;
  EXPECT_DOUBLE_EQ(learning_rate(config, 9, 1010), 0.01);
  EXPECT_NEAR(learning_rate(config, 510, 1010), 0.005358867312681466, 1e-17);
}

TEST(LearningRate, ConstantStays) {
  config::RunConfig::Train config;
  config.lr = 0.3;
  config.schedule = config::Schedule::constant;
  EXPECT_DOUBLE_EQ(learning_rate(config, 99, 100), 0.3);
}

}  // namespace
}  // namespace headrace::train
