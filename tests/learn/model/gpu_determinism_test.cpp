#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/avg_pool3d.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/remainder.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/variable.h>

#include <array>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "learn/model/loss.hpp"
#include "learn/model/runtime.hpp"
#include "learn/model/unet2d.hpp"
#include "learn/model/unet3d.hpp"

// LibTorch has operations without a deterministic backward pass on CUDA: under deterministic
// algorithms, which training asks for, the first step on a GPU would throw. No GPU is needed to see
// that the networks and the losses have none of them: the graph of a step names what will run.
namespace headrace::model {
namespace {

/// Parts of names of autograd nodes. Source: torch.use_deterministic_algorithms (2.11), "will throw
/// a RuntimeError", and the forward operations of that list that a loss could hold.
constexpr std::array<std::string_view, 22> kThrow{
    "AvgPool3D",       "AdaptiveAvgPool2D", "AdaptiveAvgPool3D",
    "MaxPool3D",       "AdaptiveMaxPool2D", "FractionalMax",
    "MaxUnpool",       "UpsampleLinear",    "UpsampleBil",
    "UpsampleBicubic", "UpsampleTril",      "ReflectionPad",
    "NllLoss",         "CtcLoss",           "EmbeddingBag",
    "PutBackward",     "GridSampler",       "Cumsum",
    "Median",          "ScatterReduce",     "IndexPutBackward",
    "Kthvalue"};

constexpr std::array<UNet3dConfig::Axes, 4> kBlocks{{{2, 2, 2}, {1, 2, 2}, {2, 1, 1}, {2, 1, 2}}};

std::set<std::string> nodes_of(const at::Tensor& loss) {
  std::set<std::string> names;
  std::set<torch::autograd::Node*> seen;
  std::vector<torch::autograd::Node*> open{loss.grad_fn().get()};
  while (!open.empty()) {
    torch::autograd::Node* node = open.back();
    open.pop_back();
    if (node == nullptr || !seen.insert(node).second) continue;
    names.insert(node->name());
    for (const auto& edge : node->next_edges()) open.push_back(edge.function.get());
  }
  return names;
}

std::set<std::string> throwing(const std::set<std::string>& names) {
  std::set<std::string> found;
  for (const std::string& name : names) {
    for (const std::string_view part : kThrow) {
      if (name.find(part) != name.npos) found.insert(name);
    }
  }
  return found;
}

at::Tensor values(at::IntArrayRef shape) {
  return (at::arange(c10::multiply_integers(shape), at::kFloat) * 0.37).sin().view(shape);
}
at::Tensor labels(at::IntArrayRef shape, int classes) {
  return at::remainder(at::arange(c10::multiply_integers(shape)), classes)
      .to(at::kByte)
      .view(shape);
}

TEST(GpuDeterminism, NoOperationOfASlidesStepThrows) {
  const UNet2d net(UNet2dConfig{{8, 16}, {1, 4}, 3, 1});
  const auto loss = deep_supervision_loss(net.forward_levels(values({2, 2, 3, 16, 16})),
                                          labels({2, 16, 16}, 3), at::ones({3}), 0.5);
  const auto names = nodes_of(loss.total);
  EXPECT_TRUE(names.contains("ConvolutionBackward0"));  // the walk reaches the network
  EXPECT_EQ(throwing(names), std::set<std::string>{});
}

TEST(GpuDeterminism, NoOperationOfAVolumesStepThrows) {
  const UNet3d net(UNet3dConfig{
      {4, 8, 12}, 1, 2, 1, {{1, 1, 1}, {1, 2, 2}, {2, 2, 2}}, {{1, 3, 3}, {3, 3, 3}, {3, 3, 3}}});
  const auto loss = deep_supervision_loss(net.forward_levels(values({1, 1, 8, 8, 8})),
                                          labels({1, 8, 8, 8}, 2), at::ones({2}), 0.5);
  const auto names = nodes_of(loss.total);
  EXPECT_TRUE(names.contains("ConvolutionBackward0"));
  // On a CPU alone: elsewhere mean_of_blocks stands for it.
  EXPECT_EQ(throwing(names), std::set<std::string>{"AvgPool3DBackward0"});
  for (const UNet3dConfig::Axes& block : kBlocks) {
    EXPECT_EQ(
        throwing(nodes_of(mean_of_blocks(values({1, 2, 4, 4, 4}).requires_grad_(true), block))),
        std::set<std::string>{});
  }
}

/// As they are on a GPU, with channels innermost. The norm is a node of its own there; it is made of
/// sums and products.
TEST(GpuDeterminism, NoOperationThrowsWithChannelsLast) {
  const UNet2d slides(UNet2dConfig{{8, 16}, {1, 4}, 3, 1, {}, /*channels_last=*/true});
  const UNet3d volumes(UNet3dConfig{
      {4, 8, 12}, 1, 2, 1, {{1, 1, 1}, {1, 2, 2}, {2, 2, 2}}, {}, /*channels_last=*/true});
  for (const auto& loss : {deep_supervision_loss(slides.forward_levels(values({2, 2, 3, 16, 16})),
                                                 labels({2, 16, 16}, 3), at::ones({3}), 0.5),
                           deep_supervision_loss(volumes.forward_levels(values({1, 1, 8, 8, 8})),
                                                 labels({1, 8, 8, 8}, 2), at::ones({2}), 0.5)}) {
    EXPECT_TRUE(nodes_of(loss.total).contains("ConvolutionBackward0"));
    EXPECT_EQ(throwing(nodes_of(loss.total)), std::set<std::string>{});
  }
}

TEST(GpuDeterminism, MeansOfBlocksAreThoseOfAvgPool3d) {
  for (const UNet3dConfig::Axes& block : kBlocks) {
    const at::Tensor a = values({2, 3, 4, 6, 8}).requires_grad_(true);
    const at::Tensor b = values({2, 3, 4, 6, 8}).requires_grad_(true);
    const at::Tensor means = mean_of_blocks(a, block), expected = at::avg_pool3d(b, block);
    ASSERT_EQ(means.sizes(), expected.sizes());
    EXPECT_LT((means - expected).abs().max().item<double>(), 1e-6);
    const at::Tensor weights = values(means.sizes());
    (means * weights).sum().backward();
    (expected * weights).sum().backward();
    EXPECT_TRUE(a.grad().equal(b.grad()));  // both divide by a power of 2, exactly
  }
}

TEST(GpuDeterminism, TheRuntimeAsksForItAndForWholeFloats) {
  at::Context& context = at::globalContext();
  const bool before = context.deterministicAlgorithms();
  configure_runtime(at::get_num_threads(), device::DeviceChoice::cpu, AutoSwitch::off,
                    /*deterministic=*/true);
  EXPECT_TRUE(context.deterministicAlgorithms());
  EXPECT_TRUE(context.deterministicCuDNN());
  EXPECT_FALSE(context.benchmarkCuDNN());
  EXPECT_FALSE(context.allowTF32CuDNN());
  EXPECT_FALSE(context.allowTF32CuBLAS());
  EXPECT_EQ(context.allowBF16ReductionCuBLAS(),
            at::CuBLASReductionOption::DisallowReducedPrecisionAllowSplitK);
  context.setDeterministicAlgorithms(before, /*warn_only=*/false);
}

}  // namespace
}  // namespace headrace::model
