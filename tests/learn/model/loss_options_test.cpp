#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/tensor.h>
#include <gtest/gtest.h>

#include <cmath>

#include "learn/model/loss.hpp"
#include "learn/model/loss_terms.hpp"

namespace headrace::model {
namespace {

constexpr std::int64_t kImages = 2, kClasses = 3, kHeight = 4, kWidth = 5;

/// inputs() of golden/losses.py.
at::Tensor logits() {
  std::vector<float> values;
  for (std::int64_t i = 0; i < kImages * kClasses * kHeight * kWidth; ++i) {
    values.push_back(static_cast<float>(2 * std::sin(0.37 * static_cast<double>(i))));
  }
  return at::tensor(values, at::kFloat).view({kImages, kClasses, kHeight, kWidth});
}
at::Tensor labels() {
  std::vector<std::int64_t> values;
  for (std::int64_t i = 0; i < kImages * kHeight * kWidth; ++i) {
    const std::int64_t label = (7 * i + i / 5) % 4;
    values.push_back(label == 3 ? 255 : label);
  }
  return at::tensor(values, at::kLong).to(at::kByte).view({kImages, kHeight, kWidth});
}
at::Tensor weights() { return at::tensor({1.0, 2.0, 0.5}, at::kDouble).to(at::kFloat); }

LossKind pixel(LossKind::Pixel term, double number) {
  LossKind kind;
  kind.pixel = term;
  (term == LossKind::Pixel::focal ? kind.gamma : kind.k_percent) = number;
  return kind;
}
LossKind tversky(double alpha, double beta) {
  LossKind kind;
  kind.region = LossKind::Region::tversky;
  kind.alpha = alpha;
  kind.beta = beta;
  return kind;
}

/// Printed by golden/losses.py (PyTorch 2.11 in double precision): the term and the gradient of
/// the logits at 0, 17, 63 and 119. Of tversky the index, whose weight in the loss is -1.
struct Golden {
  LossKind kind;
  double value;
  std::array<double, 4> gradient;
};
class LossOptions : public ::testing::TestWithParam<Golden> {};

TEST_P(LossOptions, AreThoseOfPyTorchWithTheirGradients) {
  const auto& [kind, value, gradient] = GetParam();
  at::Tensor input = logits().requires_grad_(true);
  const bool region = kind.region == LossKind::Region::tversky;
  const double dice_weight = region ? 1 : 0;
  const auto loss = segmentation_loss(input, labels(), weights(), dice_weight, {}, kind);
  // Of a loss with both terms the golden one is what remains.
  at::Tensor term = loss.total;
  if (region) term = 1 + loss.cross_entropy - loss.total;
  EXPECT_NEAR(term.item<double>(), value, 2e-6);
  term.backward();
  constexpr std::array<std::int64_t, 4> kAt{0, 17, 63, 119};
  for (std::size_t i = 0; i < kAt.size(); ++i) {
    EXPECT_NEAR(input.grad().flatten()[kAt[i]].item<double>(), gradient[i], 2e-7) << kAt[i];
  }
}

using enum LossKind::Pixel;
INSTANTIATE_TEST_SUITE_P(
    Golden, LossOptions,
    ::testing::Values(
        Golden{pixel(focal, 1), 1.334311068, {-0.028596727, 0.001140468, 0.003431290, 0.023624435}},
        Golden{pixel(focal, 2), 1.169053235, {-0.031042833, 0.000938681, 0.003714529, 0.025323422}},
        Golden{
            pixel(focal, 3.5), 0.995343918, {-0.033586284, 0.000610794, 0.003965906, 0.026305974}},
        Golden{pixel(top_k, 10), 2.230952255, {0, 0, 0.018199087, 0}},
        Golden{pixel(top_k, 40), 2.540366523, {-0.055501124, 0, 0.006617850, 0.045400831}},
        Golden{
            pixel(top_k, 100), 1.586314059, {-0.025438015, 0.001185031, 0.003033181, 0.020808714}},
        Golden{tversky(0.3, 0.7),
               0.334061725,
               {0.001802321, -0.001194384, -0.000192905, -0.002365067}},
        Golden{tversky(0.5, 0.5),
               0.333096268,
               {0.001865266, -0.001142976, -0.000239211, -0.002351530}}));

TEST(LossKinds, CrossEntropyAndDiceAreMeasuredWhateverIsTrained) {
  const auto plain = segmentation_loss(logits(), labels(), weights(), 0.5);
  LossKind kind = tversky(0.3, 0.7);
  kind.pixel = LossKind::Pixel::focal;
  const auto other = segmentation_loss(logits(), labels(), weights(), 0.5, {}, kind);
  EXPECT_EQ(other.cross_entropy.item<double>(), plain.cross_entropy.item<double>());
  EXPECT_EQ(other.dice.item<double>(), plain.dice.item<double>());
  EXPECT_NEAR(other.total.item<double>(), 1.169053235 + 0.5 * (1 - 0.334061725), 3e-6);
}

TEST(LossKinds, NothingAnnotatedGivesNoLossAndNoGradient) {
  const at::Tensor none = at::full({kImages, kHeight, kWidth}, 255, at::kByte);
  for (LossKind kind : {pixel(focal, 1), pixel(top_k, 10)}) {
    kind.region = LossKind::Region::tversky;
    at::Tensor input = logits().requires_grad_(true);
    const auto loss = segmentation_loss(input, none, weights(), 1, {}, kind);
    EXPECT_EQ(loss.total.item<double>(), 0);
    loss.total.backward();
    EXPECT_EQ(input.grad().abs().max().item<double>(), 0);
  }
}

/// Ten equal pixels, of which three count: each gets three tenths.
TEST(TopK, EqualPixelsShareWhatCounts) {
  at::Tensor log_p = at::full({1, 10}, -2.0, at::kFloat).requires_grad_(true);
  const at::Tensor term = pixel_term(log_p, at::ones({1, 10}), pixel(top_k, 30));
  EXPECT_NEAR(term.item<double>(), 2, 1e-6);
  term.backward();
  for (std::int64_t i = 0; i < 10; ++i) {
    EXPECT_NEAR(log_p.grad()[0][i].item<double>(), -0.1, 1e-6);
  }
}

/// Probabilities that were added up may be more than 1 by a bit.
TEST(Focal, IsFiniteWhereRoundingLeavesAPixelMoreThanSure) {
  at::Tensor log_p = at::tensor({1.2e-7, -80.0}, at::kDouble).to(at::kFloat);
  log_p = log_p.view({1, 2}).requires_grad_(true);
  for (const double gamma : {1.0, 1.5, 3.5}) {
    const at::Tensor term = pixel_term(log_p, at::ones({1, 2}), pixel(focal, gamma));
    EXPECT_NEAR(term.item<double>(), 40, 1e-4) << gamma;
    term.backward();
    EXPECT_TRUE(std::isfinite(log_p.grad().sum().item<double>())) << gamma;
  }
}

/// A sure pixel has no gradient where a power of 0 would have none, and none is not a number.
TEST(Focal, IsFiniteWhereAPixelIsSure) {
  at::Tensor log_p = at::tensor({0.0, -1e-9, -80.0}, at::kDouble).to(at::kFloat);
  log_p = log_p.view({1, 3}).requires_grad_(true);
  for (const double gamma : {1.0, 2.0, 3.5}) {
    const at::Tensor term = pixel_term(log_p, at::ones({1, 3}), pixel(focal, gamma));
    EXPECT_NEAR(term.item<double>(), 80.0 / 3, 1e-4);
    term.backward();
    EXPECT_TRUE(std::isfinite(log_p.grad().sum().item<double>()));
  }
}

TEST(DeepSupervisionLoss, EveryLevelHasTheChosenTerms) {
  const LossKind kind = pixel(focal, 2);
  const at::Tensor fine = logits(), coarse = fine.slice(2, 0, 2).slice(3, 0, 2) * 0.5;
  const at::Tensor truth = labels().slice(2, 0, 4);
  const at::Tensor wide = fine.slice(3, 0, 4);
  const auto both = deep_supervision_loss({wide, coarse}, truth, weights(), 1, {}, kind);
  const at::Tensor coarse_truth = truth.slice(1, 1, {}, 2).slice(2, 1, {}, 2);
  const auto a = segmentation_loss(wide, truth, weights(), 1, {}, kind);
  const auto b = segmentation_loss(coarse, coarse_truth, weights(), 1, {}, kind);
  EXPECT_NEAR(both.total.item<double>(), (2 * a.total.item<double>() + b.total.item<double>()) / 3,
              1e-6);
}

}  // namespace
}  // namespace headrace::model
