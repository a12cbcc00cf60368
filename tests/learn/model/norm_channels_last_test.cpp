#include "tests/learn/model/watched_operations.hpp"

#include "learn/model/norm_channels_last.hpp"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/group_norm.h>
#include <ATen/ops/leaky_relu.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "learn/model/loss.hpp"
#include "learn/model/unet2d.hpp"
#include "learn/model/unet3d.hpp"
#include "tests/learn/model/model_device.hpp"

// Expected: LibTorch's own group_norm and the networks made of it, which are the CPU's path.
namespace headrace::model {
namespace {

at::Tensor on_cpu(at::IntArrayRef shape, at::ScalarType type, double step = 0.37) {
  return (at::arange(c10::multiply_integers(shape), at::kDouble) * step).sin().view(shape).to(type);
}
at::Tensor values(at::IntArrayRef shape, at::ScalarType type, double step = 0.37) {
  return on_cpu(shape, type, step).to(headrace::fixtures::model_device());
}

double farthest(const at::Tensor& a, const at::Tensor& b) {
  return (a.to(at::kDouble) - b.to(at::kDouble)).abs().max().item<double>();
}

struct Case {
  std::vector<std::int64_t> shape;
  std::int64_t groups;
  std::optional<double> slope;
};

class NormChannelsLast : public ::testing::TestWithParam<Case> {};

/// The same values by both, of inputs that lie channels last or not.
struct Pair {
  Pair(const Case& c, at::ScalarType type, bool last) {
    const std::int64_t channels = c.shape[1];
    at::Tensor input = values(c.shape, type) * 3 + 1;
    if (last) input = input.contiguous(channels_last_of(input));
    for (at::Tensor* x : {&mine_x, &their_x}) *x = input.clone().requires_grad_(true);
    for (at::Tensor* s : {&mine_scale, &their_scale})
      *s = (values({channels}, type, 1.3) + 2).requires_grad_(true);
    for (at::Tensor* o : {&mine_offset, &their_offset})
      *o = values({channels}, type, 0.7).requires_grad_(true);
    mine = norm_channels_last(mine_x, c.groups, mine_scale, mine_offset, c.slope);
    theirs = at::group_norm(their_x, c.groups, their_scale, their_offset);
    if (c.slope) theirs = at::leaky_relu(theirs, *c.slope);
    const at::Tensor weights = values(c.shape, type, 0.11);
    (mine * weights).sum().backward();
    (theirs * weights).sum().backward();
  }
  at::Tensor mine_x, mine_scale, mine_offset, mine;
  at::Tensor their_x, their_scale, their_offset, theirs;
};

TEST_P(NormChannelsLast, IsGroupNormAndItsGradients) {
  for (const bool last : {true, false}) {
    // In float64 only the formulas can differ, in float32 also the order of the sums.
    for (const auto& [type, tolerance] : {std::pair{at::kDouble, 1e-10}, {at::kFloat, 2e-4}}) {
      const Pair pair(GetParam(), type, last);
      EXPECT_LT(farthest(pair.mine, pair.theirs), tolerance);
      EXPECT_LT(farthest(pair.mine_x.grad(), pair.their_x.grad()), tolerance);
      EXPECT_LT(farthest(pair.mine_scale.grad(), pair.their_scale.grad()), 10 * tolerance);
      EXPECT_LT(farthest(pair.mine_offset.grad(), pair.their_offset.grad()), 10 * tolerance);
    }
  }
}

TEST_P(NormChannelsLast, KeepsChannelsInnermostAndTheType) {
  for (const at::ScalarType type : {at::kFloat, at::kBFloat16}) {
    const at::Tensor input = values(GetParam().shape, type);
    const at::MemoryFormat format = channels_last_of(input);
    const at::Tensor x = input.contiguous(format).requires_grad_(true);
    const at::Tensor scale = values({x.size(1)}, at::kFloat).requires_grad_(true);
    const at::Tensor out = norm_channels_last(x, GetParam().groups, scale, scale, GetParam().slope);
    EXPECT_EQ(out.scalar_type(), type);
    EXPECT_TRUE(out.is_contiguous(format));
    out.to(at::kFloat).sum().backward();
    EXPECT_EQ(x.grad().scalar_type(), type);
    EXPECT_TRUE(x.grad().is_contiguous(format));
    EXPECT_EQ(scale.grad().scalar_type(), at::kFloat);
  }
}

TEST_P(NormChannelsLast, OfBfloat16RoundsOnlyWhatGoesInAndOut) {
  const Case c = GetParam();
  const at::Tensor x = values(c.shape, at::kBFloat16);
  const at::Tensor ones = values({x.size(1)}, at::kFloat, 0) + 1;
  const at::Tensor out = norm_channels_last(x, c.groups, ones, ones, c.slope);
  const at::Tensor exact = norm_channels_last(x.to(at::kDouble), c.groups, ones.to(at::kDouble),
                                              ones.to(at::kDouble), c.slope);
  // Half a unit of bfloat16's 8 bits, with a little for the float32 before.
  EXPECT_TRUE(((out.to(at::kDouble) - exact).abs() <= exact.abs() / 250 + 1e-5).all().item<bool>());
}

INSTANTIATE_TEST_SUITE_P(Shapes, NormChannelsLast,
                         ::testing::Values(Case{{2, 16, 5, 7}, 2, 0.0}, Case{{3, 8, 4, 4}, 1, {}},
                                           Case{{2, 6, 3, 4, 5}, 6, 0.01},
                                           Case{{1, 6, 2, 2, 3}, 6, {}},
                                           Case{{2, 24, 1, 9}, 3, 0.0},
                                           Case{{2, 1, 3, 4, 5}, 1, 0.01}));

TEST(NormChannelsLast, OfEqualValuesFarFromZeroIsTheOffset) {
  // As in air: variance 0 beside a mean that a difference of squares would lose it in.
  const at::Tensor x = values({1, 8, 6, 6, 6}, at::kFloat, 0) + 1000;
  const at::Tensor scale = values({8}, at::kFloat, 0) + 1, offset = values({8}, at::kFloat);
  const at::Tensor out = norm_channels_last(x, 8, scale, offset);
  EXPECT_LT(farthest(out, offset.view({1, 8, 1, 1, 1}).expand(x.sizes())), 0.05);
  EXPECT_TRUE(out.isfinite().all().item<bool>());
}

/// Counts the convolutions below, and those whose input has pixels innermost.
struct Convolutions {
  Convolutions() {
    seen = undone = 0;
    handle = at::addGlobalCallback(at::RecordFunctionCallback(look).needsInputs(true));
  }
  ~Convolutions() { at::removeCallback(handle); }
  static std::unique_ptr<at::ObserverContext> look(const at::RecordFunction& call) {
    const std::string name = call.name();
    if (name != "aten::convolution" && name != "aten::convolution_backward") return nullptr;
    for (const c10::IValue& value : call.inputs()) {
      if (!value.isTensor()) continue;  // gradient, input and weight are the tensors
      const at::Tensor tensor = value.toTensor();
      if (!tensor.defined() || tensor.dim() < 4) continue;
      ++seen;
      undone += tensor.is_contiguous(channels_last_of(tensor)) ? 0 : 1;
    }
    return nullptr;
  }
  at::CallbackHandle handle{};
  static inline int seen = 0, undone = 0;
};

/// Loss and gradients of a net, by both layouts; how many tensors of convolutions are not channels
/// last in the second.
template <typename Net, typename Config>
int compare(Config config, const at::Tensor& images, const at::Tensor& labels, int least) {
  const Net plain(config);
  config.channels_last = true;
  Net last(config);
  last.parameters().place(at::kCPU, /*channels_last=*/true);
  for (const auto& parameter : last.parameters().all()) {
    at::Tensor value = parameter.tensor;
    if (value.dim() == 5) value.set_data(value.contiguous(at::MemoryFormat::ChannelsLast3d));
  }
  const at::Tensor weights = on_cpu({config.classes}, at::kFloat, 0) + 1;
  const auto loss_of = [&](const Net& net) {
    const auto levels = net.forward_levels(images);
    const at::Tensor loss = deep_supervision_loss(levels, labels, weights, 0.5).total;
    loss.backward();
    return std::pair(levels.front(), loss);
  };
  const auto [plain_logits, plain_loss] = loss_of(plain);
  int undone = 0;
  {
    const Convolutions watch;
    const auto [logits, loss] = loss_of(last);
    EXPECT_GE(Convolutions::seen, least);
    undone = Convolutions::undone;
    EXPECT_LT(farthest(logits, plain_logits), 1e-4);
    EXPECT_LT(farthest(loss, plain_loss), 1e-5);
    EXPECT_TRUE(logits.is_contiguous(channels_last_of(logits)));
  }
  for (std::size_t i = 0; i < plain.parameters().all().size(); ++i) {
    const auto& [name, tensor] = plain.parameters().all()[i];
    const double size = tensor.grad().abs().max().template item<double>();
    EXPECT_LT(farthest(last.parameters().all()[i].tensor.grad(), tensor.grad()), 1e-3 * size + 1e-5)
        << name;
  }
  return undone;
}

TEST(ChannelsLast, ASlideNetworkKeepsThemAndItsFigures) {
  const at::Tensor labels = (on_cpu({2, 32, 32}, at::kFloat).gt(0)).to(at::kByte);
  EXPECT_EQ(compare<UNet2d>(UNet2dConfig{{8, 16, 24}, {1, 2}, 2, 3, {{1, 1}, {2, 2}, {1, 2}}},
                            on_cpu({2, 2, 3, 32, 32}, at::kFloat), labels, 40),
            0);
}

TEST(ChannelsLast, AVolumeNetworkKeepsThemAndItsFigures) {
  const at::Tensor labels = (on_cpu({2, 8, 16, 16}, at::kFloat).gt(0)).to(at::kByte);
  EXPECT_EQ(compare<UNet3d>(UNet3dConfig{{4, 8, 12}, 2, 2, 3, {{1, 1, 1}, {1, 2, 2}, {2, 2, 2}}},
                            on_cpu({2, 2, 8, 16, 16}, at::kFloat), labels, 40),
            0);
}

}  // namespace
}  // namespace headrace::model
