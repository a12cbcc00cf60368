#include "learn/model/loss.hpp"

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

/// Three classes over five pixels; label 3 is the set {1, 2}, label 4 the set {0, 1}.
struct SetCase {
  std::vector<float> logits{0.3f, -1.0f, 2.0f,  0.5f, 1.1f, 0.1f,  0.4f, -0.7f,
                            0.9f, 0.0f,  -0.2f, 0.6f, 0.8f, -1.5f, 0.7f};
  ClassSets sets{{1, 2}, {0, 1}};
  at::Tensor tensor() const { return at::tensor(logits, at::kFloat).view({1, 3, 1, 5}); }
  double p(std::size_t c, std::size_t i) const {
    double sum = 0;
    for (std::size_t k = 0; k < 3; ++k) sum += std::exp(double(logits[k * 5 + i]));
    return std::exp(double(logits[c * 5 + i])) / sum;
  }
};

at::Tensor labels5(std::vector<std::int64_t> values) {
  return at::tensor(values, at::kLong).to(at::kByte).view({1, 1, 5});
}

TEST(ClassSetLoss, EqualsTheMarginalProbabilitiesWrittenOut) {
  const SetCase c;
  // Pixels: class 0, set {1, 2}, class 2, ignore, set {1, 2}; class weights 1, 2, 4: the set's 3.
  const auto loss =
      segmentation_loss(c.tensor(), labels5({0, 3, 2, 255, 3}),
                        at::tensor({1.0, 2.0, 4.0}, at::kDouble).to(at::kFloat), 0.5, c.sets);
  const double entropy =
      -(std::log(c.p(0, 0)) + 4 * std::log(c.p(2, 2)) + 3 * std::log(c.p(1, 1) + c.p(2, 1)) +
        3 * std::log(c.p(1, 4) + c.p(2, 4))) /
      11;
  // Class 0 is decided on every annotated pixel, class 2 on plain pixels 0 and 2 alone, class 1 is
  // no pixel's truth. The set {1, 2} is decided on all four, and true on three of them.
  const double dice0 = 2 * c.p(0, 0) / (c.p(0, 0) + c.p(0, 1) + c.p(0, 2) + c.p(0, 4) + 1);
  const double dice2 = 2 * c.p(2, 2) / (c.p(2, 0) + c.p(2, 2) + 1);
  const auto either = [&](std::size_t i) { return c.p(1, i) + c.p(2, i); };
  const double dice_set =
      2 * (either(1) + either(2) + either(4)) / (either(0) + either(1) + either(2) + either(4) + 3);
  EXPECT_NEAR(loss.cross_entropy.item<double>(), entropy, 1e-6);
  EXPECT_NEAR(loss.dice.item<double>(), (dice0 + dice2 + dice_set) / 3, 1e-6);
}

TEST(ClassSetLoss, OtherTermsTakeTheMarginalProbabilitiesToo) {
  const SetCase c;
  const at::Tensor truth = labels5({0, 3, 2, 255, 3}),
                   weights = at::tensor({1.0, 2.0, 4.0}, at::kDouble).to(at::kFloat);
  const auto either = [&](std::size_t i) { return c.p(1, i) + c.p(2, i); };
  LossKind kind;
  kind.pixel = LossKind::Pixel::focal;
  const auto focal = [](double p) { return -(1 - p) * (1 - p) * std::log(p); };
  EXPECT_NEAR(
      segmentation_loss(c.tensor(), truth, weights, 0, c.sets, kind).total.item<double>(),
      (focal(c.p(0, 0)) + 4 * focal(c.p(2, 2)) + 3 * focal(either(1)) + 3 * focal(either(4))) / 11,
      1e-6);
  kind = {};
  kind.region = LossKind::Region::tversky;
  const auto tversky = [](double both, double p, double t) {
    return both / (both + 0.3 * (p - both) + 0.7 * (t - both));
  };
  const double index = (tversky(c.p(0, 0), c.p(0, 0) + c.p(0, 1) + c.p(0, 2) + c.p(0, 4), 1) +
                        tversky(c.p(2, 2), c.p(2, 0) + c.p(2, 2), 1) +
                        tversky(either(1) + either(2) + either(4),
                                either(0) + either(1) + either(2) + either(4), 3)) /
                       3;
  const auto loss = segmentation_loss(c.tensor(), truth, weights, 1, c.sets, kind);
  EXPECT_NEAR(loss.total.item<double>(), loss.cross_entropy.item<double>() + 1 - index, 1e-6);
}

TEST(ClassSetLoss, DoesNotDependOnHowASetSharesItsProbability) {
  // Probability is moved from class 1 to class 2 at the pixels of the set {1, 2}.
  const SetCase c;
  SetCase moved = c;
  for (const std::size_t i : {std::size_t{1}, std::size_t{4}}) {
    const double both = std::exp(double(c.logits[5 + i])) + std::exp(double(c.logits[10 + i]));
    moved.logits[5 + i] = static_cast<float>(std::log(0.05 * both));
    moved.logits[10 + i] = static_cast<float>(std::log(0.95 * both));
  }
  const at::Tensor truth = labels5({0, 3, 2, 1, 3}), ones = at::ones({3});
  EXPECT_NEAR(segmentation_loss(c.tensor(), truth, ones, 1, c.sets).total.item<double>(),
              segmentation_loss(moved.tensor(), truth, ones, 1, c.sets).total.item<double>(), 1e-6);
}

TEST(ClassSetLoss, OfPlainLabelsIsThePlainLossBitForBit) {
  const SetCase c;
  const at::Tensor truth = labels5({0, 1, 2, 255, 1}), weights = at::tensor({1.0, 0.3, 2.0});
  at::Tensor with = c.tensor().clone().requires_grad_(true),
             without = c.tensor().clone().requires_grad_(true);
  const auto a = segmentation_loss(with, truth, weights.to(at::kFloat), 0.7, c.sets),
             b = segmentation_loss(without, truth, weights.to(at::kFloat), 0.7);
  EXPECT_EQ(a.total.item<double>(), b.total.item<double>());
  a.total.backward();
  b.total.backward();
  EXPECT_TRUE(with.grad().equal(without.grad()));
}

TEST(ClassSetLoss, GradientEqualsTheDifferenceQuotientAndStaysFinite) {
  SetCase c;
  const at::Tensor truth = labels5({0, 3, 2, 255, 4}), ones = at::ones({3});
  at::Tensor logits = c.tensor().clone().requires_grad_(true);
  segmentation_loss(logits, truth, ones, 1, c.sets).total.backward();
  for (std::size_t i = 0; i < 15; ++i) {
    constexpr float kStep = 1e-2f;
    SetCase up = c, down = c;
    up.logits[i] += kStep;
    down.logits[i] -= kStep;
    const double slope =
        (segmentation_loss(up.tensor(), truth, ones, 1, c.sets).total.item<double>() -
         segmentation_loss(down.tensor(), truth, ones, 1, c.sets).total.item<double>()) /
        (2 * kStep);
    EXPECT_NEAR(logits.grad().flatten()[static_cast<std::int64_t>(i)].item<double>(), slope, 1e-3)
        << i;
  }
  SetCase far = c;
  for (float& logit : far.logits) logit *= 1e4f;
  at::Tensor extreme = far.tensor().clone().requires_grad_(true);
  const auto loss = segmentation_loss(extreme, truth, ones, 1, c.sets);
  loss.total.backward();
  EXPECT_TRUE(std::isfinite(loss.total.item<double>()));
  EXPECT_TRUE(std::isfinite(extreme.grad().abs().sum().item<double>()));
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
