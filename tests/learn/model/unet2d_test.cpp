#include "learn/model/unet2d.hpp"

#include <ATen/Parallel.h>
#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/full.h>
#include <ATen/ops/matmul.h>
#include <gtest/gtest.h>

#include <cmath>

#include "headrace/core/error.hpp"

namespace headrace::model {
namespace {

UNet2dConfig small(std::vector<int> context = {1}) {
  return {{8, 16, 24}, std::move(context), 3, 42};
}

/// Images that differ in every pixel, without LibTorch's generator.
at::Tensor images(std::int64_t n, std::int64_t contexts, std::int64_t edge) {
  const std::int64_t count = n * contexts * 3 * edge * edge;
  return (at::arange(count, at::kFloat) * 0.37).sin().view({n, contexts, 3, edge, edge});
}

TEST(ConcentricMatrix, FactorOneIsTheIdentity) {
  for (const std::int64_t size : {1, 2, 5, 8}) {
    const at::Tensor matrix = concentric_matrix(size, 1);
    for (std::int64_t i = 0; i < size; ++i) {
      for (std::int64_t j = 0; j < size; ++j) {
        EXPECT_EQ(matrix[i][j].item<float>(), i == j ? 1.0f : 0.0f);
      }
    }
  }
}

TEST(ConcentricMatrix, ReadsTheCentreAtItsCoordinates) {
  // Bilinear interpolation is exact on a ramp, so the result is the sampled coordinate itself.
  for (const int factor : {2, 4}) {
    for (const std::int64_t size : {8, 9, 16}) {
      const at::Tensor ramp = at::arange(size, at::kFloat).view({size, 1});
      const at::Tensor got = at::matmul(concentric_matrix(size, factor), ramp);
      for (std::int64_t i = 0; i < size; ++i) {
        const double half = static_cast<double>(size) / 2;
        const double expected = (static_cast<double>(i) + 0.5 - half) / factor + half - 0.5;
        EXPECT_NEAR(got[i][0].item<double>(), expected, 1e-5) << factor << " " << size << " " << i;
      }
    }
  }
}

TEST(UNet2d, GivesLogitsOfTheInputsSize) {
  const at::NoGradGuard no_grad;
  for (const auto& context : {std::vector<int>{1}, {1, 2}, {1, 2, 4}}) {
    const UNet2d net(small(context));
    const auto n = static_cast<std::int64_t>(context.size());
    const at::Tensor out = net.forward(images(2, n, 32));
    EXPECT_EQ(out.sizes().vec(), (std::vector<std::int64_t>{2, 3, 32, 32}));
    EXPECT_TRUE(std::isfinite(out.abs().max().item<double>()));
  }
}

TEST(UNet2d, StridesAreByAxis) {
  const at::NoGradGuard no_grad;
  UNet2dConfig config = small({1, 2});
  config.strides.assign(config.widths.size(), {2, 2});
  config.strides.front() = {1, 1};
  const at::Tensor square = images(2, 2, 32);
  EXPECT_TRUE(UNet2d(config).forward(square).equal(UNet2d(small({1, 2})).forward(square)));
  config.strides.back() = {1, 2};  // a wide patch: its height is halved once less
  const UNet2d net(config);
  EXPECT_EQ(net.edge_divisors()[0] * 2, net.edge_divisors()[1]);
  const std::int64_t height = net.edge_divisors()[0] * 3;
  EXPECT_EQ(net.forward(square.slice(3, 0, height)).sizes().vec(),
            (std::vector<std::int64_t>{2, config.classes, height, 32}));
  config.strides.front() = {2, 1};
  EXPECT_THROW(UNet2d{config}, Error);
}

TEST(UNet2d, InitialValuesFollowFromTheSeed) {
  const UNet2d a(small()), b(small());
  UNet2dConfig other = small();
  other.seed = 43;
  const UNet2d c(other);
  ASSERT_EQ(a.parameters().all().size(), b.parameters().all().size());
  bool differs = false;
  for (std::size_t i = 0; i < a.parameters().all().size(); ++i) {
    const auto& [name, tensor] = a.parameters().all()[i];
    EXPECT_TRUE(tensor.equal(b.parameters().all()[i].tensor)) << name;
    differs = differs || !tensor.equal(c.parameters().all()[i].tensor);
    const double bound = std::sqrt(6.0 / (tensor.numel() / tensor.size(0)));
    if (tensor.dim() == 4) {
      EXPECT_LE(tensor.abs().max().item<double>(), bound) << name;
    }
  }
  EXPECT_TRUE(differs);
}

TEST(UNet2d, ASampleDoesNotDependOnItsBatch) {
  const at::NoGradGuard no_grad;
  const UNet2d net(small({1, 2}));
  const at::Tensor both = images(2, 2, 32);
  const at::Tensor together = net.forward(both);
  const at::Tensor alone = net.forward(both.slice(0, 1, 2));
  EXPECT_LT((together.slice(0, 1, 2) - alone).abs().max().item<double>(), 1e-4);
}

TEST(UNet2d, EveryContextReachesTheOutput) {
  const at::NoGradGuard no_grad;
  const UNet2d net(small({1, 2, 4}));
  const at::Tensor base = images(1, 3, 32);
  const at::Tensor out = net.forward(base);
  for (std::int64_t k = 0; k < 3; ++k) {
    at::Tensor changed = base.clone();
    changed.select(1, k).mul_(-1);
    EXPECT_GT((net.forward(changed) - out).abs().max().item<double>(), 1e-4) << k;
  }
}

TEST(UNet2d, EveryParameterGetsAGradientAndTheSameOneTwice) {
  at::set_num_threads(2);
  std::vector<at::Tensor> first;
  for (int round = 0; round < 2; ++round) {
    const UNet2d net(small({1, 2}));
    net.forward(images(2, 2, 32)).pow(2).mean().backward();
    for (std::size_t i = 0; i < net.parameters().all().size(); ++i) {
      const auto& [name, tensor] = net.parameters().all()[i];
      ASSERT_TRUE(tensor.grad().defined()) << name;
      EXPECT_GT(tensor.grad().abs().max().item<double>(), 0) << name;
      if (round == 0) {
        first.push_back(tensor.grad().clone());
      } else {
        EXPECT_TRUE(tensor.grad().equal(first[i])) << name;
      }
    }
  }
}

TEST(UNet2d, ImpossibleConfigsAndShapesAreRefused) {
  EXPECT_THROW(UNet2d({{8}, {1}, 2, 0}), Error);
  EXPECT_THROW(UNet2d({{8, 12}, {1}, 2, 0}), Error);
  EXPECT_THROW(UNet2d({{8, 16}, {2}, 2, 0}), Error);
  EXPECT_THROW(UNet2d({{8, 16}, {1}, 1, 0}), Error);
  const UNet2d net(small());
  EXPECT_THROW(net.forward(images(1, 2, 32)), Error);
  EXPECT_THROW(net.forward(images(1, 1, 30)), Error);
}

}  // namespace
}  // namespace headrace::model
