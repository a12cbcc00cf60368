#include "headrace/model/loss.hpp"

#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace headrace::model {
namespace {

/// Logits (1, 2, 1, 4) and their softmax by hand.
struct Case {
  std::vector<float> logits{0.3f, -1.0f, 2.0f, 0.5f, 0.1f, 0.4f, -0.7f, 0.9f};
  at::Tensor tensor() const { return at::tensor(logits, at::kFloat).view({1, 2, 1, 4}); }
  double p1(int i) const { return 1 / (1 + std::exp(double(logits[i]) - double(logits[4 + i]))); }
};

at::Tensor labels(std::vector<std::int64_t> values) {
  return at::tensor(values, at::kLong).to(at::kByte).view({1, 1, 4});
}

TEST(SegmentationLoss, EqualsTheSumsWrittenOut) {
  const Case c;
  const auto loss = segmentation_loss(c.tensor(), labels({0, 1, 255, 1}),
                                      at::tensor({1.0, 3.0}, at::kDouble).to(at::kFloat), 0.5);
  const double entropy =
      -(std::log(1 - c.p1(0)) + 3 * std::log(c.p1(1)) + 3 * std::log(c.p1(3))) / 7;
  const double p1 = c.p1(0) + c.p1(1) + c.p1(3), p0 = 3 - p1;
  const double dice0 = 2 * (1 - c.p1(0)) / (p0 + 1);
  const double dice1 = 2 * (c.p1(1) + c.p1(3)) / (p1 + 2);
  EXPECT_NEAR(loss.cross_entropy.item<double>(), entropy, 1e-6);
  EXPECT_NEAR(loss.dice.item<double>(), (dice0 + dice1) / 2, 1e-6);
  EXPECT_NEAR(loss.total.item<double>(), entropy + 0.5 * (1 - (dice0 + dice1) / 2), 1e-6);
}

TEST(SegmentationLoss, AbsentClassesStayOutOfDice) {
  const Case c;
  const auto loss = segmentation_loss(c.tensor(), labels({1, 1, 1, 1}), at::ones({2}), 1);
  double p1 = 0;
  for (int i = 0; i < 4; ++i) p1 += c.p1(i);
  EXPECT_NEAR(loss.dice.item<double>(), 2 * p1 / (p1 + 4), 1e-6);
}

TEST(SegmentationLoss, NothingAnnotatedGivesNoLossAndNoGradient) {
  at::Tensor logits = Case().tensor().clone().requires_grad_(true);
  const auto loss = segmentation_loss(logits, labels({255, 255, 255, 255}), at::ones({2}), 1);
  EXPECT_EQ(loss.total.item<double>(), 0);
  loss.total.backward();
  EXPECT_EQ(logits.grad().abs().max().item<double>(), 0);
}

TEST(SegmentationLoss, GradientEqualsTheDifferenceQuotient) {
  Case c;
  at::Tensor logits = c.tensor().clone().requires_grad_(true);
  const at::Tensor truth = labels({0, 1, 255, 1});
  segmentation_loss(logits, truth, at::ones({2}), 1).total.backward();
  for (int i = 0; i < 8; ++i) {
    constexpr float kStep = 1e-2f;
    Case up = c, down = c;
    up.logits[i] += kStep;
    down.logits[i] -= kStep;
    const double slope =
        (segmentation_loss(up.tensor(), truth, at::ones({2}), 1).total.item<double>() -
         segmentation_loss(down.tensor(), truth, at::ones({2}), 1).total.item<double>()) /
        (2 * kStep);
    EXPECT_NEAR(logits.grad().flatten()[i].item<double>(), slope, 1e-3) << i;
  }
}

TEST(SegmentationLoss, HasTheSameValueInAnyNumberOfAxes) {
  const Case c;
  const at::Tensor truth = labels({0, 1, 255, 1});
  const auto flat = segmentation_loss(c.tensor(), truth, at::ones({2}), 0.7);
  const auto line =
      segmentation_loss(c.tensor().view({1, 2, 4}), truth.view({1, 4}), at::ones({2}), 0.7);
  const auto volume = segmentation_loss(c.tensor().view({1, 2, 2, 1, 2}), truth.view({1, 2, 1, 2}),
                                        at::ones({2}), 0.7);
  EXPECT_EQ(flat.total.item<double>(), line.total.item<double>());
  EXPECT_NEAR(flat.total.item<double>(), volume.total.item<double>(), 1e-6);
}

TEST(DeepSupervisionLoss, WeighsLevelsByHalvesAndReadsTheMiddleVoxel) {
  // Two levels of 4 and 2 voxels a row: weights 2/3 and 1/3, coarse labels are those at 1 and 3.
  const Case c;
  const at::Tensor truth = labels({0, 1, 255, 0}), coarse_truth = labels({1, 0, 255, 255});
  const at::Tensor coarse = at::tensor({0.2, -0.4, 1.0, 0.3}, at::kDouble).to(at::kFloat);
  const at::Tensor fine3d = c.tensor().view({1, 2, 1, 1, 4}).repeat({1, 1, 2, 2, 1});
  const auto both =
      deep_supervision_loss({fine3d, coarse.view({1, 2, 1, 1, 2})},
                            truth.view({1, 1, 1, 4}).repeat({1, 2, 2, 1}), at::ones({2}), 1);
  const auto a = segmentation_loss(c.tensor(), truth, at::ones({2}), 1);
  const auto b =
      segmentation_loss(coarse.view({1, 2, 1, 2}), coarse_truth.slice(2, 0, 2), at::ones({2}), 1);
  EXPECT_NEAR(both.dice.item<double>(), a.dice.item<double>(), 1e-6);
  EXPECT_NEAR(both.cross_entropy.item<double>(), a.cross_entropy.item<double>(), 1e-6);
  EXPECT_NEAR(both.total.item<double>(), (2 * a.total.item<double>() + b.total.item<double>()) / 3,
              1e-6);
}

TEST(DeepSupervisionLoss, AnAxisThatWasNotHalvedKeepsItsLabels) {
  // Two slices of four voxels; the coarse level has two slices of two: labels at 1 and 3 of each.
  const Case c;
  const at::Tensor truth = at::stack({labels({0, 1, 255, 0}), labels({1, 0, 0, 1})}, 1);
  const at::Tensor fine = at::stack({c.tensor(), -c.tensor()}, 2);
  const at::Tensor coarse =
      at::tensor({0.2, -0.4, 1.0, 0.3, 0.7, 0.1, -0.2, 0.9}, at::kDouble).to(at::kFloat);
  const at::Tensor coarse_truth =
      at::tensor({1, 0, 0, 1}, at::kLong).to(at::kByte).view({1, 2, 1, 2});
  const auto both =
      deep_supervision_loss({fine, coarse.view({1, 2, 2, 1, 2})}, truth, at::ones({2}), 1);
  const auto a = segmentation_loss(fine, truth, at::ones({2}), 1);
  const auto b = segmentation_loss(coarse.view({1, 2, 2, 1, 2}), coarse_truth, at::ones({2}), 1);
  EXPECT_NEAR(both.total.item<double>(), (2 * a.total.item<double>() + b.total.item<double>()) / 3,
              1e-6);
}

TEST(DeepSupervisionLoss, OfOneLevelIsTheLossItself) {
  const Case c;
  const at::Tensor truth = labels({0, 1, 255, 1});
  EXPECT_EQ(deep_supervision_loss({c.tensor()}, truth, at::ones({2}), 1).total.item<double>(),
            segmentation_loss(c.tensor(), truth, at::ones({2}), 1).total.item<double>());
}

}  // namespace
}  // namespace headrace::model
