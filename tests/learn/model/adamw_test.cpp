#include "learn/model/adamw.hpp"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/full.h>
#include <gtest/gtest.h>

#include <cmath>

#include "headrace/core/error.hpp"

namespace headrace::model {
namespace {

/// Algorithm 2 of Loshchilov and Hutter in double precision, one number.
struct ReferenceAdamW {
  double value, decay, first = 0, second = 0;
  int steps = 0;
  void step(double gradient, double rate) {
    ++steps;
    value -= rate * decay * value;
    first = 0.9 * first + 0.1 * gradient;
    second = 0.999 * second + 0.001 * gradient * gradient;
    const double m = first / (1 - std::pow(0.9, steps)), v = second / (1 - std::pow(0.999, steps));
    value -= rate * m / (std::sqrt(v) + 1e-8);
  }
};

void set_gradient(const at::Tensor& parameter, double value) {
  parameter.mutable_grad() = at::full(parameter.sizes(), value, at::kFloat);
}

TEST(AdamW, FollowsTheAlgorithmAndDecaysOnlyConvolutions) {
  Parameters parameters(1);
  const at::Tensor weight = parameters.conv("w", 1, 1, 1);
  const at::Tensor scale = parameters.constant("s", 1, 0.5f);
  ReferenceAdamW expected_weight{weight.item<double>(), 0.1}, expected_scale{0.5, 0.0};
  AdamW optimiser(parameters, 0.1);
  for (int i = 0; i < 20; ++i) {
    const double gradient = std::sin(i * 0.7) + 0.2, rate = 0.01 * (i + 1);
    set_gradient(weight, gradient);
    set_gradient(scale, -gradient);
    optimiser.step(rate);
    expected_weight.step(gradient, rate);
    expected_scale.step(-gradient, rate);
    EXPECT_NEAR(weight.item<double>(), expected_weight.value, 2e-6);
    EXPECT_NEAR(scale.item<double>(), expected_scale.value, 2e-6);
    EXPECT_FALSE(weight.grad().defined());
  }
}

TEST(AdamW, RestoredStateGoesOnToTheBit) {
  Parameters a(1), b(1);
  const at::Tensor wa = a.conv("w", 8, 3, 3), wb = b.conv("w", 8, 3, 3);
  AdamW first(a, 0.01);
  for (int i = 0; i < 5; ++i) {
    set_gradient(wa, 0.1 * i - 0.2);
    first.step(1e-2);
  }
  AdamW second(b, 0.01);
  second.restore(first.state(), first.steps());
  {
    const at::NoGradGuard no_grad;
    at::Tensor(wb).copy_(wa);
  }
  for (AdamW* optimiser : {&first, &second}) {
    set_gradient(optimiser == &first ? wa : wb, 0.7);
    optimiser->step(1e-2);
  }
  EXPECT_TRUE(wa.equal(wb));
  EXPECT_EQ(second.steps(), 6);
}

TEST(AdamW, MissingStateIsNamed) {
  Parameters parameters(1);
  parameters.conv("w", 1, 1, 1);
  AdamW optimiser(parameters, 0);
  try {
    optimiser.restore({}, 3);
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("first.w"), std::string::npos) << error.what();
  }
}

TEST(ClipGradients, ScalesToTheLimitAndGivesTheNorm) {
  Parameters parameters(1);
  const at::Tensor a = parameters.constant("a", 1, 0), b = parameters.constant("b", 1, 0);
  set_gradient(a, 3);
  set_gradient(b, 4);
  EXPECT_NEAR(clip_gradients(parameters, 0).item<double>(), 5, 1e-6);
  EXPECT_NEAR(a.grad().item<double>(), 3, 1e-6);
  EXPECT_NEAR(clip_gradients(parameters, 1).item<double>(), 5, 1e-6);
  EXPECT_NEAR(a.grad().item<double>(), 0.6, 1e-6);
  EXPECT_NEAR(b.grad().item<double>(), 0.8, 1e-6);
}

}  // namespace
}  // namespace headrace::model
