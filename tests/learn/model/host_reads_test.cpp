#include "tests/learn/model/watched_operations.hpp"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/where.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "learn/model/adamw.hpp"
#include "learn/model/late_reads.hpp"
#include "learn/model/loss.hpp"
#include "learn/model/unet2d.hpp"
#include "learn/model/unet3d.hpp"
#include "learn/model/weight_average.hpp"
#include "tests/learn/model/operations_on_meta.hpp"

// A step must not make the host wait for a GPU. Two ways to see it without one: no operation of a
// step on the CPU gives the host a number; and what a step is made of runs on LibTorch's `meta`
// device, whose tensors have no memory that could be read.
namespace headrace::model {
namespace {

using fixtures::on_meta;
using fixtures::WatchedOperations;

at::Tensor values(at::IntArrayRef shape, double step = 0.37) {
  return (at::arange(c10::multiply_integers(shape), at::kFloat) * step).sin().view(shape);
}

std::vector<LossKind> kinds() {
  LossKind top, focal;
  top.pixel = LossKind::Pixel::top_k;
  focal.pixel = LossKind::Pixel::focal;
  focal.region = LossKind::Region::tversky;
  return {{}, top, focal};
}

void forward_and_backward(SegmentationNet& net, const at::Tensor& images, const at::Tensor& labels,
                          const LossKind& kind) {
  const at::Tensor weights = at::ones({2}, images.options());
  deep_supervision_loss(net.forward_levels(images), labels, weights, 0.5, {{0, 1}}, kind)
      .total.backward();
}

const UNet2dConfig kSlides{{8, 16}, {1, 2}, 2, 1, {}, /*channels_last=*/true};
const UNet3dConfig kVolumes{{4, 8}, 1, 2, 1, {}, {}, /*channels_last=*/true};

TEST(HostReads, OfAStepThereAreNone) {
  UNet2d slides(kSlides), slides_average(kSlides);
  UNet3d volumes(kVolumes), volumes_average(kVolumes);
  struct Kind {
    SegmentationNet &net, &average;
    at::Tensor images, labels;
    int made_once;
  };
  for (const Kind& kind : {Kind{slides, slides_average, values({2, 2, 3, 16, 16}),
                                values({2, 16, 16}).gt(0).to(at::kByte), 1},
                           Kind{volumes, volumes_average, values({2, 1, 8, 8, 8}),
                                values({2, 8, 8, 8}).gt(0).to(at::kByte), 0}}) {
    AdamW optimiser(kind.net.parameters(), 0.1);
    LateReads late(at::kCPU);
    for (int step = 0; step < 2; ++step) {
      const WatchedOperations watch;
      for (const LossKind& loss : {kinds()[0], kinds()[2]})  // top_k reads its k on a CPU
        forward_and_backward(kind.net, kind.images, kind.labels, loss);
      scale_gradients(kind.net.parameters(), 0.5f);
      late.put(clip_gradients(kind.net.parameters(), 0.1).to(at::kDouble).view({1}));
      average_weights(kind.net.parameters(), kind.average.parameters(), 0.9, step + 1);
      EXPECT_EQ(watch.host_reads(), 0);
      // What a network makes on the host, it makes once: a copy to a GPU waits too.
      EXPECT_EQ(watch.count("aten::zeros"), step == 0 ? kind.made_once : 0);
      EXPECT_GT(watch.count("aten::convolution_backward"), 10) << "the watch sees nothing";
      optimiser.step(1e-3);  // which on a CPU reads the number of steps of every tensor
    }
    EXPECT_GT(late.take().row[0], 0);
  }
}

/// Without the backward pass and the top k, for which LibTorch has no functions there.
TEST(HostReads, OfLossesOnADeviceWithoutMemoryThereAreNone) {
  const WatchedOperations watch;
  const at::Tensor weights = on_meta({2}), labels = on_meta({1, 8, 8, 8}, at::kByte);
  for (const LossKind& kind : {kinds()[0], kinds()[2]}) {
    const at::Tensor fine = on_meta({1, 2, 8, 8, 8}), coarse = mean_of_blocks(fine, {2, 2, 2});
    EXPECT_EQ(repeated(coarse, {2, 2, 2}).sizes(), fine.sizes());
    const LossTerms loss = deep_supervision_loss({fine, coarse}, labels, weights, 0.5, {}, kind);
    EXPECT_TRUE(loss.total.is_meta());
  }
  EXPECT_EQ(watch.host_reads(), 0);
  EXPECT_EQ(watch.copies_from_host(), 0);
}

TEST(HostReads, AreSeen) {
  const WatchedOperations watch;
  EXPECT_EQ(at::ones({1}).item<double>(), 1);
  EXPECT_EQ(watch.host_reads(), 1);
  EXPECT_TRUE(at::ones({2}).to(at::Device(at::kMeta)).is_meta());
  EXPECT_EQ(watch.copies_from_host(), 1);
  on_meta({2}).copy_(at::ones({2}));
  EXPECT_EQ(watch.copies_from_host(), 2);
  EXPECT_EQ(watch.waits_for_copies(), 0);
  EXPECT_ANY_THROW(on_meta({2}).to(at::kCPU));
  EXPECT_ANY_THROW(at::ones({2}).copy_(on_meta({2})));
  EXPECT_ANY_THROW(at::ones({2}).copy_(on_meta({2}), /*non_blocking=*/true));
  EXPECT_EQ(watch.waits_for_copies(), 3);
  EXPECT_ANY_THROW(on_meta({1}).item<float>()) << "it could be read";
}

/// A table that was left on the host is refused, and a single value is copied, as on a GPU.
TEST(HostReads, OfOperationsOnMetaAreSeen) {
  const fixtures::OperationsOnMeta operations;
  const WatchedOperations watch;
  const at::Tensor some = on_meta({2, 3}), is = some.gt(0).logical_and(some.lt(1));
  EXPECT_EQ(at::where(is, some, 0.0).sizes(), some.sizes());
  EXPECT_EQ(watch.copies_from_host(), 0);
  at::where(is, some, at::ones({}));
  EXPECT_EQ(watch.copies_from_host(), 1);
  const at::Tensor index = on_meta({4}, at::kLong);
  EXPECT_EQ(some.index_select(1, index).sizes(), (std::vector<std::int64_t>{2, 4}));
  EXPECT_ANY_THROW(at::ones({3}).index_select(0, index));
  EXPECT_ANY_THROW(at::where(is, some, at::ones({2, 3})));
}

TEST(TopK, TheKthLargestIsFoundAlikeBySortingAndByReadingK) {
  for (const std::int64_t k : {1, 2, 17, 99, 100}) {
    const at::Tensor some = (values({100}) * 20).round();  // with equal ones
    const at::Tensor count = at::full({}, k, at::kLong);
    at::Tensor sorted;
    {
      const WatchedOperations watch;
      sorted = kth_largest(some, count, false);
      EXPECT_EQ(watch.host_reads(), 0);
    }
    EXPECT_EQ(sorted.item<float>(), kth_largest(some, count, true).item<float>());
  }
}

/// The same bytes as when the host reads the norm and multiplies by limit / norm where it is larger.
TEST(ClipGradients, ChangesTheBytesThatTheHostWouldChange) {
  const double inf = std::numeric_limits<double>::infinity();
  for (const double factor : {0.01, 1.0, 1.0 / 3, 1e30, inf}) {
    for (const double limit : {0.0, 0.1, 1.0, 1e6}) {
      Parameters parameters(1);
      std::vector<at::Tensor> expected, norms;
      for (const std::int64_t width : {3, 8}) {
        const at::Tensor weight = parameters.conv("w" + std::to_string(width), width, 5, 3);
        weight.mutable_grad() = values(weight.sizes(), 0.7 / static_cast<double>(width)) * factor;
        expected.push_back(weight.grad().clone());
        norms.push_back(weight.grad().norm());
      }
      const double norm = at::stack(norms).norm().item<double>();
      if (limit > 0 && norm > limit) {
        for (at::Tensor& gradient : expected) gradient.mul_(limit / norm);
      }
      const double given = clip_gradients(parameters, limit).item<double>();
      EXPECT_TRUE(given == norm || (std::isnan(given) && std::isnan(norm))) << given << " " << norm;
      for (std::size_t i = 0; i < expected.size(); ++i) {
        const at::Tensor got = parameters.all()[i].tensor.grad();
        EXPECT_TRUE(got.view(at::kInt).equal(expected[i].view(at::kInt))) << factor << " " << limit;
      }
    }
  }
}

TEST(LateReads, GivesRowsInTheirOrderAsTheyWereWhenPut) {
  LateReads late(at::kCPU);
  at::Tensor row = at::tensor({1.0, 2.0}, at::kDouble);
  late.begin();
  late.batch_is_there();
  late.put(row);
  row.fill_(7);
  late.put(row);
  EXPECT_EQ(late.size(), 2u);
  EXPECT_EQ(late.take().row, (std::vector<double>{1, 2}));
  EXPECT_EQ(late.take().row, (std::vector<double>{7, 7}));
  EXPECT_EQ(late.size(), 0u);
}

}  // namespace
}  // namespace headrace::model
