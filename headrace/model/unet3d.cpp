#include "headrace/model/unet3d.hpp"

#include <ATen/TensorOperators.h>
#include <ATen/ops/avg_pool2d.h>
#include <ATen/ops/avg_pool3d.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/conv3d.h>
#include <ATen/ops/group_norm.h>
#include <ATen/ops/leaky_relu.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/upsample_nearest3d.h>

#include "headrace/core/error.hpp"

namespace headrace::model {
namespace {

constexpr double kSlope = 0.01;

void check(const UNet3dConfig& config) {
  if (config.widths.size() < 2 || config.widths.size() > 8) {
    fail(ErrorCode::usage, "model.widths: {} levels; unet3d takes 2 to 8.", config.widths.size());
  }
  for (const int width : config.widths) {
    if (width < 1 || width > 4096) {
      fail(ErrorCode::usage, "model.widths: {} is not in 1..4096.", width);
    }
  }
  if (config.channels < 1) {
    fail(ErrorCode::usage, "unet3d: the input has {} channels.", config.channels);
  }
  if (config.classes < 2 || config.classes > 255) {
    fail(ErrorCode::usage, "The dataset has {} classes; a segmentation needs 2 to 255.",
         config.classes);
  }
}

/// A 1×1×1 convolution as the matrix product that it is: with one thread, LibTorch's convolution
/// takes a slower path for such kernels.
at::Tensor pointwise(const at::Tensor& weight, const at::Tensor& x) {
  const auto sizes = x.sizes();
  return at::matmul(weight.flatten(1), x.flatten(2))
      .view({sizes[0], weight.size(0), sizes[2], sizes[3], sizes[4]});
}

}  // namespace

at::Tensor mean_of_cubes(const at::Tensor& x) {
  const auto sizes = x.sizes();
  const at::Tensor squares = at::avg_pool2d(x.flatten(1, 2), {2, 2});
  return squares.reshape({sizes[0], sizes[1], sizes[2] / 2, 2, squares.size(2), squares.size(3)})
      .mean(3);
}

at::Tensor UNet3d::Conv::operator()(const at::Tensor& x) const {
  const std::int64_t pad = weight.size(2) / 2;
  const at::Tensor y = weight.size(2) == 1
                           ? pointwise(weight, x)
                           : at::conv3d(x, weight, {}, {stride, stride, stride}, {pad, pad, pad});
  return at::group_norm(y, weight.size(0), scale, offset);
}

at::Tensor UNet3d::Block::operator()(const at::Tensor& x) const {
  at::Tensor beside = x;
  if (first.stride > 1) {
    beside = beside.is_cpu() ? at::avg_pool3d(beside, {2, 2, 2}) : mean_of_cubes(beside);
  }
  if (!skip.empty()) beside = skip.front()(beside);
  const at::Tensor inside = second(at::leaky_relu(first(x), kSlope));
  return at::leaky_relu(inside + beside, kSlope);
}

UNet3d::Conv UNet3d::make_conv(const std::string& name, std::int64_t out, std::int64_t in,
                               std::int64_t k, std::int64_t stride) {
  Conv conv;
  conv.weight = parameters_.conv(name + ".weight", out, in, {k, k, k});
  conv.scale = parameters_.constant(name + ".norm.scale", out, 1.0f);
  conv.offset = parameters_.constant(name + ".norm.offset", out, 0.0f);
  conv.stride = stride;
  return conv;
}

UNet3d::Block UNet3d::make_block(const std::string& name, std::int64_t out, std::int64_t in,
                                 std::int64_t stride) {
  Block block;
  block.first = make_conv(name + ".0", out, in, 3, stride);
  block.second = make_conv(name + ".1", out, out, 3);
  if (in != out) block.skip.push_back(make_conv(name + ".skip", out, in, 1));
  return block;
}

UNet3d::UNet3d(const UNet3dConfig& config) : config_(config), parameters_(config.seed) {
  check(config);
  const auto& widths = config.widths;
  const std::size_t levels = widths.size();
  for (std::size_t l = 0; l < levels; ++l) {
    const std::string name = fmt::format("encoder.{}", l);
    const int in = l == 0 ? config.channels : widths[l - 1];
    encoder_.push_back({make_block(name + ".0", widths[l], in, l == 0 ? 1 : 2)});
    if (l > 0) encoder_.back().push_back(make_block(name + ".1", widths[l], widths[l]));
  }
  for (std::size_t l = 0; l + 1 < levels; ++l) {
    const std::string name = fmt::format("decoder.{}", l);
    narrow_.push_back(make_conv(name + ".narrow", widths[l], widths[l + 1], 1));
    decoder_.push_back(make_block(name, widths[l], 2 * widths[l]));
    heads_.push_back({parameters_.conv(name + ".head.weight", config.classes, widths[l], {1, 1, 1}),
                      parameters_.constant(name + ".head.bias", config.classes, 0.0f)});
  }
}

std::vector<at::Tensor> UNet3d::decode(const at::Tensor& images) const {
  const auto divisible = [&](std::int64_t axis) { return images.size(axis) % edge_divisor() == 0; };
  if (images.dim() != 5 || images.size(1) != config_.channels || !divisible(2) || !divisible(3) ||
      !divisible(4)) {
    fail(ErrorCode::usage,
         "patch: the model takes {} channel(s) with edges divisible by {}; the batch has shape {}. "
         "Change patch.size or model.widths.",
         config_.channels, edge_divisor(), fmt::join(images.sizes().vec(), "×"));
  }
  at::Tensor x = images;
  std::vector<at::Tensor> skips;
  for (const auto& level : encoder_) {
    for (const Block& block : level) x = block(x);
    skips.push_back(x);
  }
  std::vector<at::Tensor> features(decoder_.size());
  for (std::size_t l = decoder_.size(); l-- > 0;) {
    const at::Tensor& skip = skips[l];
    x = at::leaky_relu(narrow_[l](x), kSlope);
    x = at::upsample_nearest3d(x, at::IntArrayRef{skip.size(2), skip.size(3), skip.size(4)});
    x = decoder_[l](at::cat({skip, x}, 1));
    features[l] = x;
  }
  return features;
}

at::Tensor UNet3d::forward(const at::Tensor& images) const {
  const at::Tensor x = decode(images).front();
  return pointwise(heads_.front().weight, x) + heads_.front().bias.view({1, -1, 1, 1, 1});
}

std::vector<at::Tensor> UNet3d::forward_levels(const at::Tensor& images) const {
  std::vector<at::Tensor> levels = decode(images);
  for (std::size_t l = 0; l < levels.size(); ++l) {
    levels[l] = pointwise(heads_[l].weight, levels[l]) + heads_[l].bias.view({1, -1, 1, 1, 1});
  }
  return levels;
}

}  // namespace headrace::model
