#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "headrace/core/error.hpp"
#include "learn/predict/prediction_thread.hpp"

namespace headrace::predict {
namespace {

class Recorded : public ImagePrediction {
 public:
  void add(BlendedPart part) override {
    if (part.at == fails_at) fail(ErrorCode::io, "part {}: the disk is full", part.at);
    rows.push_back(part.at);
  }
  std::string finish(const Json&) override { return {}; }

  std::vector<std::int64_t> rows;
  std::int64_t fails_at = -1;
};

BlendedPart part_of(std::int64_t at, std::size_t bytes) {
  return {0, at, std::vector<std::uint8_t>(bytes), {}};
}

TEST(PredictionThread, PartsComeInOrderAlsoWhenManyWait) {
  Recorded prediction;
  PredictionThread thread(prediction);
  std::vector<std::int64_t> expected;
  for (std::int64_t at = 0; at < 300; ++at) {
    thread.add(part_of(at, PredictionThread::kMostBytes / 8));
    expected.push_back(at);
  }
  thread.finish();
  EXPECT_EQ(prediction.rows, expected);
}

TEST(PredictionThread, AFailureIsToldAndNothingFollowsIt) {
  Recorded prediction;
  prediction.fails_at = 3;
  PredictionThread thread(prediction);
  std::string message;
  try {
    for (std::int64_t at = 0; at < 100000; ++at)
      thread.add(part_of(at, PredictionThread::kMostBytes));
  } catch (const Error& error) {
    message = error.what();
  }
  EXPECT_EQ(message, "part 3: the disk is full");
  EXPECT_EQ(prediction.rows, (std::vector<std::int64_t>{0, 1, 2}));
}

TEST(PredictionThread, AFailureOfTheLastPartIsToldAtTheEnd) {
  Recorded prediction;
  prediction.fails_at = 0;
  PredictionThread thread(prediction);
  thread.add(part_of(0, 1));
  EXPECT_THROW(thread.finish(), Error);
}

TEST(PredictionThread, WhatWaitsIsDroppedWithIt) {
  Recorded prediction;
  { PredictionThread thread(prediction); }
  {
    PredictionThread thread(prediction);
    thread.add(part_of(0, 1));
  }
  EXPECT_LE(prediction.rows.size(), 1u);
}

}  // namespace
}  // namespace headrace::predict
