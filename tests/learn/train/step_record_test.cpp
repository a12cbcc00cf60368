#include "learn/train/run/step_record.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <vector>

#include "headrace/core/error.hpp"

namespace headrace::train {
namespace {

/// Samples of a batch of five, each of 2 × 3 pixels, from `first` on.
struct Part {
  Part(std::int64_t first, std::int64_t count) {
    images.resize(static_cast<std::size_t>(count) * 18);
    labels.resize(static_cast<std::size_t>(count) * 6);
    std::iota(images.begin(), images.end(), static_cast<float>(first * 18));
    std::iota(labels.begin(), labels.end(), static_cast<std::uint8_t>(first * 6));
    batch.samples = count;
    batch.contexts = 1;
    batch.height = 2;
    batch.width = 3;
    batch.images = images.data();
    batch.labels = labels.data();
  }
  std::vector<float> images;
  std::vector<std::uint8_t> labels;
  loader::Batch batch;
};

TEST(StepRecord, DigestsOfPartsAddUpToThatOfTheBatchWhateverTheThreads) {
  ThreadPool one(1), three(3);
  const Part whole(0, 5);
  const std::uint64_t digest = batch_digest(whole.batch, 0, one);
  EXPECT_EQ(batch_digest(whole.batch, 0, three), digest);
  std::uint64_t sum = 0;
  for (const auto& [first, count] : {std::pair<std::int64_t, std::int64_t>{0, 2}, {2, 1}, {3, 2}})
    sum += batch_digest(Part(first, count).batch, first, three);
  EXPECT_EQ(sum, digest);
}

TEST(StepRecord, DigestsSeeEveryByteAndThePlaceOfASample) {
  ThreadPool pool(1);
  Part part(0, 5);
  const std::uint64_t digest = batch_digest(part.batch, 0, pool);
  part.labels.back() ^= 1;
  EXPECT_NE(batch_digest(part.batch, 0, pool), digest);
  part.labels.back() ^= 1;
  part.images.front() = std::nextafter(part.images.front(), 1.0f);
  EXPECT_NE(batch_digest(part.batch, 0, pool), digest);
  EXPECT_NE(batch_digest(Part(0, 5).batch, 1, pool), digest);
}

TEST(StepRecord, ALineGivesItsNumbersBackToTheBit) {
  const StepRecord before{7, 0.1 + 0.2, std::nextafter(3.0, 4.0), 0x00ff00000000abcdULL, "ab"};
  const Json line = before.to_json();
  EXPECT_EQ(line.at("batch"), "00ff00000000abcd");
  const StepRecord after = StepRecord::parse(parse_json(line.dump(), "line"), "line");
  EXPECT_EQ(after.step, 7);
  EXPECT_EQ(after.loss, before.loss);
  EXPECT_EQ(after.gradient_norm, before.gradient_norm);
  EXPECT_EQ(after.batch, before.batch);
  EXPECT_EQ(after.weights, "ab");
  const StepRecord bare = StepRecord::parse(
      parse_json(StepRecord{1, 1.0, INFINITY, {}, {}}.to_json().dump(), "line"), "line");
  EXPECT_TRUE(std::isnan(bare.gradient_norm));
  EXPECT_FALSE(bare.batch);
  for (const char* bad : {R"({"step":1,"loss":1,"gradient_norm":1,"batch":"12"})", R"({"step":1})",
                          R"({"step":1,"loss":"x","gradient_norm":1})"})
    EXPECT_THROW(StepRecord::parse(parse_json(bad, "line"), "line"), Error) << bad;
}

TEST(StepRecord, TheStepAloneSaysWhichDigestsAreTaken) {
  config::RunConfig config;
  config.train.log_every = 30;
  config.train.checkpoint_every = 50;
  EXPECT_TRUE(batch_is_recorded(config, 100));
  EXPECT_FALSE(batch_is_recorded(config, 101));
  EXPECT_TRUE(batch_is_recorded(config, 120));
  config.train.log_every = 1;  // a large batch is not hashed at each step
  EXPECT_FALSE(batch_is_recorded(config, 101));
  EXPECT_TRUE(batch_is_recorded(config, 110));
  config.train.log_every = 4;
  EXPECT_FALSE(batch_is_recorded(config, 104));
  EXPECT_TRUE(batch_is_recorded(config, 108));
  EXPECT_TRUE(weights_are_recorded(config, 10, 123));
  EXPECT_FALSE(weights_are_recorded(config, 11, 123));
  EXPECT_TRUE(weights_are_recorded(config, 50, 123));
  EXPECT_TRUE(weights_are_recorded(config, 123, 123));
}

}  // namespace
}  // namespace headrace::train
