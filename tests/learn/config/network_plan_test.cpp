#include "learn/config/network_plan.hpp"

#include <gtest/gtest.h>

#include <sstream>
#include <string>

#include "headrace/core/error.hpp"
#include "learn/config/run_config.hpp"
#include "tests/learn/config/golden/network_plans.hpp"

namespace headrace::config {
namespace {

template <typename Number>
std::vector<Number> numbers(const std::string& text) {
  std::vector<Number> out;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, ',');) {
    out.push_back(static_cast<Number>(std::stod(part)));
  }
  return out;
}
std::vector<std::vector<int>> levels(const std::string& text) {
  std::vector<std::vector<int>> out;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, ';');) out.push_back(numbers<int>(part));
  return out;
}

TEST(NetworkPlan, IsThatOfNnunet) {
  std::istringstream rows(kNetworkPlans);
  std::size_t count = 0, thick = 0;
  for (std::string row; std::getline(rows, row);) {
    if (row.empty()) continue;
    SCOPED_TRACE(row);
    std::vector<std::string> fields;
    std::istringstream stream(row);
    for (std::string field; std::getline(stream, field, '|');) fields.push_back(field);
    ASSERT_EQ(fields.size(), 5u);
    const auto spacing = numbers<double>(fields[0]);
    const auto patch = numbers<std::int32_t>(fields[1]);
    const NetworkPlan plan = plan_network(spacing, patch);
    EXPECT_EQ(plan.strides, levels(fields[2]));
    EXPECT_EQ(plan.kernels, levels(fields[3]));
    const auto divisors = edge_divisors(plan.strides);
    const auto padded = numbers<std::int64_t>(fields[4]);
    for (std::size_t a = 0; a < patch.size(); ++a) {
      EXPECT_EQ((patch[a] + divisors[a] - 1) / divisors[a] * divisors[a], padded[a]);
    }
    ++count;
    thick += plan.kernels.front() != std::vector<int>(patch.size(), 3);
  }
  EXPECT_GE(count, 110u);
  EXPECT_GE(thick, 30u);
}

TEST(NetworkPlan, FewerLevelsAreItsFirstOnes) {
  const std::vector<double> spacing{5, 0.8, 0.8};
  const std::vector<std::int32_t> patch{16, 320, 320};
  const NetworkPlan all = plan_network(spacing, patch), three = plan_network(spacing, patch, 3);
  ASSERT_GT(all.strides.size(), 3u);
  ASSERT_EQ(three.strides.size(), 3u);
  EXPECT_TRUE(std::equal(three.strides.begin(), three.strides.end(), all.strides.begin()));
  EXPECT_EQ(three.kernels, (std::vector<std::vector<int>>{{1, 3, 3}, {1, 3, 3}, {3, 3, 3}}));
}

RunConfig volumes(const std::string& patch, const std::string& model) {
  return RunConfig::parse("task: colorectal\ndata: {store: a}\npatch: " + patch + "\n" + model,
                          "run.yaml");
}
using Levels = std::vector<std::vector<int>>;

TEST(ModelConfig, AutoIsNnunetsWidthsAndAllLevelsThatThePatchHas) {
  for (const char* text : {"model: auto\n", "model: {name: auto}\n"}) {
    const auto model = volumes("{size: [16, 320, 320], spacing_mm: [5, 0.78, 0.78]}", text).model;
    EXPECT_EQ(model.name, NetworkName::unet3d);
    EXPECT_EQ(model.widths, (std::vector<int>{32, 64, 128, 256, 320, 320, 320}));
    EXPECT_EQ(
        model.strides,
        (Levels{{1, 1, 1}, {1, 2, 2}, {1, 2, 2}, {2, 2, 2}, {2, 2, 2}, {1, 2, 2}, {1, 2, 2}}));
  }
  const auto slides =
      RunConfig::parse("task: segmentation\ndata: {store: a}\nmodel: auto\n", "run.yaml").model;
  EXPECT_EQ(slides.name, NetworkName::unet2d);
  EXPECT_EQ(slides.widths, (std::vector<int>{32, 64, 128, 256, 512, 512, 512, 512}));
}

TEST(ModelConfig, WidthsTakeThePlansFirstLevels) {
  const auto thick =
      volumes("{size: [10, 64, 64], spacing_mm: [5, 1, 1]}", "model: {widths: [8, 16, 32]}\n")
          .model;
  EXPECT_EQ(thick.strides, (Levels{{1, 1, 1}, {1, 2, 2}, {1, 2, 2}}));
  EXPECT_EQ(thick.kernels, (Levels{{1, 3, 3}, {1, 3, 3}, {3, 3, 3}}));
  // By default four, or as many as the patch has.
  EXPECT_EQ(volumes("{size: [96, 96, 96]}", "").model.widths, (std::vector<int>{32, 64, 128, 256}));
  EXPECT_EQ(volumes("{size: [16, 16, 16]}", "").model.widths, (std::vector<int>{32, 64, 128}));
}

TEST(ModelConfig, StridesAndKernelsMayBeGiven) {
  const auto given = volumes("{size: [16, 16, 16], spacing_mm: [5, 1, 1]}",
                             "model:\n  widths: [8, 16, 24, 32]\n"
                             "  strides: [[1, 1, 1], [2, 2, 2], [2, 2, 2], [2, 2, 2]]\n");
  EXPECT_EQ(given.model.strides, (Levels{{1, 1, 1}, {2, 2, 2}, {2, 2, 2}, {2, 2, 2}}));
  EXPECT_EQ(given.model.kernels, Levels(4, {3, 3, 3}));
  const auto again = RunConfig::parse(given.to_json().dump(), "config.json");
  EXPECT_EQ(again.model.strides, given.model.strides);
  EXPECT_EQ(again.hash(), given.hash());
}

TEST(ModelConfig, WhatIsPlannedIsPartOfTheHashWhereItIsNotUniform) {
  const auto thick = volumes("{size: [16, 32, 32], spacing_mm: [5, 1, 1]}", "");
  auto other = thick;
  other.model.kernels.assign(other.model.kernels.size(), {3, 3, 3});
  EXPECT_NE(other.hash(), thick.hash());
  EXPECT_EQ(RunConfig::parse(thick.to_json().dump(), "config.json").hash(), thick.hash());
}

struct Refused {
  const char* name;
  std::string patch, model, error;
};
class ModelConfigRefuses : public ::testing::TestWithParam<Refused> {};

TEST_P(ModelConfigRefuses, WithFileLineKeyAndWhatToDo) {
  try {
    volumes(GetParam().patch, GetParam().model);
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::usage);
    EXPECT_EQ(std::string(error.what()), GetParam().error);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Each, ModelConfigRefuses,
    ::testing::Values(
        Refused{"AWord", "{size: [16, 16, 16]}", "model: automatic\n",
                "run.yaml:4: model: 'automatic' is none of: auto"},
        Refused{"AutoWithWidths", "{size: [16, 16, 16]}", "model: {name: auto, widths: [8, 16]}\n",
                "run.yaml:4: model.widths: model.name is auto, which chooses this. Leave one of "
                "them out"},
        Refused{"TooManyWidths", "{size: [16, 16, 16]}", "model: {widths: [8, 16, 24, 32]}\n",
                "run.yaml:4: model.widths: 4 widths halve the patch 3 times, but one of [16, 16, "
                "16] at this spacing is halved 2 times (4 and more must be left of an edge). Take "
                "at most 3 widths, or a larger patch"},
        Refused{"PatchOfAuto", "{size: [16, 50, 48], spacing_mm: [4, 1, 1]}", "model: auto\n",
                "run.yaml:4: model: 4 levels halve the patch to 1/[2, 8, 8], so patch.size must "
                "be divisible by that, found [16, 50, 48]. Take [16, 56, 48]"},
        Refused{"PatchOfTheDefault", "{size: [96, 96, 18]}", "",
                "run.yaml: model (default): 4 levels halve the patch to 1/[8, 8, 4], so patch.size "
                "must be divisible by that, found [96, 96, 18]. Take [96, 96, 20]"},
        Refused{"PatchTooSmall", "{size: [8, 8, 8], spacing_mm: [1, 3, 3]}", "",
                "run.yaml: model (default): a patch of [8, 8, 8] can't be halved: an edge must "
                "have at least 8, the only one 12. Take a larger patch"},
        Refused{"StrideOfThree", "{size: [16, 16, 16]}",
                "model: {widths: [8, 16], strides: [[1, 1, 1], [1, 2, 3]]}\n",
                "run.yaml:4: model.strides[1][2]: expected 1 to 2, found 3"},
        Refused{"FirstStride", "{size: [16, 16, 16]}",
                "model: {widths: [8, 16], strides: [[2, 2, 2], [2, 2, 2]]}\n",
                "run.yaml:4: model.strides: the first level is the patch itself: its strides must "
                "be 1"},
        Refused{"EvenKernel", "{size: [16, 16, 16]}",
                "model: {widths: [8, 16], kernels: [[3, 3, 3], [3, 2, 3]]}\n",
                "run.yaml:4: model.kernels[1][1]: expected 1 or 3, found 2"}),
    [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace headrace::config
