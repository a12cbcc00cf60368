#include "learn/model/unet3d.hpp"

#include <ATen/Parallel.h>
#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/conv3d.h>
#include <ATen/ops/ones.h>
#include <gtest/gtest.h>

#include <cmath>

#include "headrace/core/error.hpp"
#include "learn/model/adamw.hpp"
#include "learn/model/loss.hpp"

namespace headrace::model {
namespace {

UNet3dConfig small() { return {{4, 8, 12}, 1, 3, 42}; }

/// Volumes that differ in every voxel, without LibTorch's generator.
at::Tensor volumes(std::int64_t n, std::int64_t d, std::int64_t h, std::int64_t w) {
  return (at::arange(n * d * h * w, at::kFloat) * 0.37).sin().view({n, 1, d, h, w});
}

TEST(UNet3d, GivesLogitsOfTheInputsSizeAndOfEachLevel) {
  const at::NoGradGuard no_grad;
  const UNet3d net(small());
  const at::Tensor input = volumes(2, 8, 12, 16);
  const auto levels = net.forward_levels(input);
  ASSERT_EQ(levels.size(), 2u);
  EXPECT_EQ(levels[0].sizes().vec(), (std::vector<std::int64_t>{2, 3, 8, 12, 16}));
  EXPECT_EQ(levels[1].sizes().vec(), (std::vector<std::int64_t>{2, 3, 4, 6, 8}));
  EXPECT_TRUE(net.forward(input).equal(levels[0]));
  EXPECT_TRUE(std::isfinite(levels[0].abs().max().item<double>()));
}

/// Thick slices: z is halved at the last level alone, and the first level's kernels are flat.
UNet3dConfig thick() {
  return {
      {4, 8, 12}, 1, 3, 42, {{1, 1, 1}, {1, 2, 2}, {2, 2, 2}}, {{1, 3, 3}, {3, 3, 3}, {3, 3, 3}}};
}

TEST(UNet3d, StridesAndKernelsAreByAxisAndLevel) {
  const at::NoGradGuard no_grad;
  const UNet3d net(thick());
  EXPECT_EQ(net.edge_divisors(), (UNet3dConfig::Axes{2, 4, 4}));
  const auto levels = net.forward_levels(volumes(2, 6, 12, 16));
  ASSERT_EQ(levels.size(), 2u);
  EXPECT_EQ(levels[0].sizes().vec(), (std::vector<std::int64_t>{2, 3, 6, 12, 16}));
  EXPECT_EQ(levels[1].sizes().vec(), (std::vector<std::int64_t>{2, 3, 6, 6, 8}));
  EXPECT_TRUE(std::isfinite(levels[0].sum().item<double>()));
  for (const auto& [name, tensor] : net.parameters().all()) {
    if (tensor.dim() != 5 || tensor.size(4) == 1) continue;
    const bool first = name.starts_with("encoder.0") || name.starts_with("decoder.0");
    EXPECT_EQ(tensor.size(2), first ? 1 : 3) << name;
    EXPECT_EQ(tensor.size(3), 3) << name;
  }
  EXPECT_THROW(net.forward(volumes(1, 5, 12, 16)), Error);
  EXPECT_THROW(net.forward(volumes(1, 6, 12, 18)), Error);
}

/// With flat kernels and no stride along z, slices don't see each other but through the norm.
TEST(UNet3d, FlatKernelsKeepSlicesApart) {
  const at::NoGradGuard no_grad;
  const UNet3d net({{4, 8}, 1, 2, 42, {{1, 1, 1}, {1, 2, 2}}, {{1, 3, 3}, {1, 3, 3}}});
  const at::Tensor input = volumes(1, 4, 8, 8), turned = input.flip(2);
  EXPECT_LT((net.forward(turned) - net.forward(input).flip(2)).abs().max().item<double>(), 1e-4);
  const UNet3d cubes({{4, 8}, 1, 2, 42, {{1, 1, 1}, {1, 2, 2}}, {}});
  EXPECT_GT((cubes.forward(turned) - cubes.forward(input).flip(2)).abs().max().item<double>(), 0.1);
}

TEST(UNet3d, UniformStridesAndKernelsAreTheDefault) {
  const at::NoGradGuard no_grad;
  UNet3dConfig written = small();
  written.strides = {{1, 1, 1}, {2, 2, 2}, {2, 2, 2}};
  written.kernels.assign(3, {3, 3, 3});
  const at::Tensor input = volumes(1, 8, 8, 8);
  EXPECT_TRUE(UNet3d(written).forward(input).equal(UNet3d(small()).forward(input)));
}

TEST(UNet3d, InitialValuesFollowFromTheSeed) {
  const UNet3d a(small()), b(small());
  UNet3dConfig other = small();
  other.seed = 43;
  const UNet3d c(other);
  bool differs = false;
  for (std::size_t i = 0; i < a.parameters().all().size(); ++i) {
    const auto& [name, tensor] = a.parameters().all()[i];
    EXPECT_TRUE(tensor.equal(b.parameters().all()[i].tensor)) << name;
    differs = differs || !tensor.equal(c.parameters().all()[i].tensor);
    const double bound = std::sqrt(6.0 / (tensor.numel() / tensor.size(0)));
    if (tensor.dim() == 5) {
      EXPECT_LE(tensor.abs().max().item<double>(), bound) << name;
    }
  }
  EXPECT_TRUE(differs);
}

TEST(UNet3d, ASampleDoesNotDependOnItsBatch) {
  const at::NoGradGuard no_grad;
  const UNet3d net(small());
  const at::Tensor both = volumes(2, 8, 8, 8);
  const at::Tensor alone = net.forward(both.slice(0, 1, 2));
  EXPECT_LT((net.forward(both).slice(0, 1, 2) - alone).abs().max().item<double>(), 1e-4);
}

/// Instance normalisation takes the contrast of the whole patch away.
TEST(UNet3d, ScaleOfThePatchDoesNotMatterInside) {
  const at::NoGradGuard no_grad;
  UNet3d net(small());
  const at::Tensor input = volumes(1, 16, 16, 16);
  const auto centre = [](const at::Tensor& x) {
    return x.slice(2, 6, 10).slice(3, 6, 10).slice(4, 6, 10);
  };
  const at::Tensor a = centre(net.forward(input)), b = centre(net.forward(input * 3));
  EXPECT_LT((b - a).abs().max().item<double>(), 1e-3);
}

class UNet3dGradients : public ::testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(UNet3d, UNet3dGradients, ::testing::Bool());

TEST_P(UNet3dGradients, ReachEveryParameterAndAreTheSameTwice) {
  for (const int threads : {1, 2}) {
    at::set_num_threads(threads);
    std::vector<at::Tensor> first;
    for (int round = 0; round < 2; ++round) {
      UNet3d net(GetParam() ? thick() : small());
      at::Tensor sum;
      for (const at::Tensor& level : net.forward_levels(volumes(2, 8, 8, 8))) {
        const at::Tensor part = level.pow(2).mean();
        sum = sum.defined() ? sum + part : part;
      }
      sum.backward();
      for (std::size_t i = 0; i < net.parameters().all().size(); ++i) {
        const auto& [name, tensor] = net.parameters().all()[i];
        ASSERT_TRUE(tensor.grad().defined()) << name;
        EXPECT_GT(tensor.grad().abs().max().item<double>(), 0) << name;
        if (round == 0) {
          first.push_back(tensor.grad().clone());
        } else {
          EXPECT_TRUE(tensor.grad().equal(first[i])) << name << " with " << threads << " threads";
        }
      }
    }
  }
}

/// A network that learns: a bright ball in a dark patch, from 40 steps.
TEST(UNet3d, LearnsABall) {
  at::set_num_threads(2);
  UNet3d net({{4, 8}, 1, 2, 1});
  AdamW optimiser(net.parameters(), 0.01);
  const std::int64_t edge = 16;
  const at::Tensor axis = at::arange(edge, at::kFloat);
  const auto ball = [&](double z, double y, double x) {
    return ((axis - z).pow(2).view({edge, 1, 1}) + (axis - y).pow(2).view({1, edge, 1}) +
            (axis - x).pow(2).view({1, 1, edge}))
        .lt(20)
        .unsqueeze(0);
  };
  const at::Tensor noise = volumes(1, edge, edge, edge) * 0.3;
  double last = 0;
  for (int step = 0; step < 40; ++step) {
    const at::Tensor truth = ball(4 + step % 7, 5 + step % 5, 6 + step % 3);
    const auto loss =
        deep_supervision_loss(net.forward_levels(noise + truth.unsqueeze(1).to(at::kFloat)),
                              truth.to(at::kByte), at::ones({2}), 1);
    last = loss.dice.item<double>();
    loss.total.backward();
    optimiser.step(1e-2);
  }
  EXPECT_GT(last, 0.9);
}

TEST(UNet3d, ImpossibleConfigsAndShapesAreRefused) {
  EXPECT_THROW(UNet3d({{8}, 1, 2, 0}), Error);
  EXPECT_THROW(UNet3d({{8, 0}, 1, 2, 0}), Error);
  EXPECT_THROW(UNet3d({{8, 16}, 0, 2, 0}), Error);
  EXPECT_THROW(UNet3d({{8, 16}, 1, 1, 0}), Error);
  EXPECT_THROW(UNet3d({{8, 16}, 1, 2, 0, {{2, 2, 2}, {2, 2, 2}}}), Error);
  EXPECT_THROW(UNet3d({{8, 16}, 1, 2, 0, {{1, 1, 1}}}), Error);
  EXPECT_THROW(UNet3d({{8, 16}, 1, 2, 0, {{1, 1, 1}, {2, 3, 2}}}), Error);
  EXPECT_THROW(UNet3d({{8, 16}, 1, 2, 0, {}, {{3, 3, 3}, {2, 3, 3}}}), Error);
  const UNet3d net(small());
  EXPECT_THROW(net.forward(volumes(1, 8, 8, 10)), Error);
  EXPECT_THROW(net.forward(volumes(2, 8, 8, 8).view({1, 2, 8, 8, 8})), Error);
  EXPECT_THROW(net.forward(volumes(1, 8, 8, 8).squeeze(0)), Error);
}

}  // namespace
}  // namespace headrace::model
