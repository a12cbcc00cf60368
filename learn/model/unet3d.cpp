#include "learn/model/unet3d.hpp"

#include <ATen/TensorOperators.h>
#include <ATen/ops/avg_pool3d.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/conv3d.h>
#include <ATen/ops/group_norm.h>
#include <ATen/ops/leaky_relu.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/upsample_nearest3d.h>

#include "headrace/core/error.hpp"
#include "learn/model/norm_channels_last.hpp"

namespace headrace::model {
namespace {

constexpr double kSlope = 0.01;

void check_axes(const std::vector<UNet3dConfig::Axes>& levels, std::size_t count,
                const std::array<std::int64_t, 2>& accepted, const char* key) {
  if (levels.size() != count) {
    fail(ErrorCode::usage, "model.{}: {} levels, but model.widths has {}.", key, levels.size(),
         count);
  }
  for (const auto& axes : levels) {
    for (const std::int64_t value : axes) {
      if (value == accepted[0] || value == accepted[1]) continue;
      fail(ErrorCode::usage, "model.{}: {} is neither {} nor {}.", key, value, accepted[0],
           accepted[1]);
    }
  }
}

/// With what was left out filled in.
UNet3dConfig completed(UNet3dConfig config) {
  const std::size_t levels = config.widths.size();
  if (config.strides.empty()) {
    config.strides.assign(levels, {2, 2, 2});
    if (levels > 0) config.strides.front() = {1, 1, 1};
  }
  if (config.kernels.empty()) config.kernels.assign(levels, {3, 3, 3});
  return config;
}

void check(const UNet3dConfig& config) {
  if (config.widths.size() < 2 || config.widths.size() > 8) {
    fail(ErrorCode::usage, "model.widths: {} levels; unet3d takes 2 to 8.", config.widths.size());
  }
  for (const int width : config.widths) {
    if (width < 1 || width > 4096) {
      fail(ErrorCode::usage, "model.widths: {} is not in 1..4096.", width);
    }
  }
  check_axes(config.strides, config.widths.size(), {1, 2}, "strides");
  check_axes(config.kernels, config.widths.size(), {1, 3}, "kernels");
  if (config.strides.front() != UNet3dConfig::Axes{1, 1, 1}) {
    fail(ErrorCode::usage,
         "model.strides: the first level is the patch itself, so its stride is 1.");
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

at::Tensor convolved(const at::Tensor& x, const at::Tensor& weight,
                     const UNet3dConfig::Axes& stride) {
  const auto kernel = weight.sizes().slice(2);
  return at::conv3d(x, weight, {}, stride, {kernel[0] / 2, kernel[1] / 2, kernel[2] / 2});
}

/// (n, z, y, x, c) as (n, z / block, block, y / block, block, x / block, block, c).
at::Tensor in_blocks(const at::Tensor& x, const UNet3dConfig::Axes& block) {
  std::vector<std::int64_t> shape{x.size(0)};
  for (std::size_t axis = 0; axis < block.size(); ++axis) {
    shape.push_back(x.size(static_cast<std::int64_t>(axis) + 1) / block[axis]);
    shape.push_back(block[axis]);
  }
  shape.push_back(x.size(4));
  return x.reshape(shape);
}

}  // namespace

at::Tensor mean_of_blocks(const at::Tensor& x, const UNet3dConfig::Axes& block) {
  return in_blocks(x.permute({0, 2, 3, 4, 1}), block).mean({2, 4, 6}).permute({0, 4, 1, 2, 3});
}

at::Tensor repeated(const at::Tensor& x, const UNet3dConfig::Axes& times) {
  const at::Tensor last = x.permute({0, 2, 3, 4, 1});  // channels
  at::Tensor fine = last.unsqueeze(2).unsqueeze(4).unsqueeze(6);
  std::vector<std::int64_t> expanded = fine.sizes().vec(), shape = last.sizes().vec();
  for (std::size_t axis = 0; axis < times.size(); ++axis) {
    expanded[2 * axis + 2] = times[axis];
    shape[axis + 1] *= times[axis];
  }
  return fine.expand(expanded).reshape(shape).permute({0, 4, 1, 2, 3});
}

at::Tensor UNet3d::Conv::operator()(const at::Tensor& x, std::optional<double> slope) const {
  const auto kernel = weight.sizes().slice(2);
  const bool is_point = kernel.equals({1, 1, 1}) && stride == kOnes;
  const std::int64_t width = weight.size(0);
  if (channels_last) {
    const at::Tensor y = is_point ? from_rows(at::linear(rows_of(x), weight.flatten(1)), x)
                                  : convolved(x, weight, stride);
    return norm_channels_last(y, width, scale, offset, slope);
  }
  const at::Tensor y = at::group_norm(
      is_point ? pointwise(weight, x) : convolved(x, weight, stride), width, scale, offset);
  return slope ? at::leaky_relu(y, *slope) : y;
}

at::Tensor UNet3d::Block::operator()(const at::Tensor& x) const {
  at::Tensor beside = x;
  if (first.stride != kOnes) {
    const bool pools = x.is_cpu() && !first.channels_last;
    beside = pools ? at::avg_pool3d(x, first.stride) : mean_of_blocks(x, first.stride);
  }
  if (!skip.empty()) beside = skip.front()(beside);
  return at::leaky_relu(second(first(x, kSlope)) + beside, kSlope);
}

at::Tensor UNet3d::Head::operator()(const at::Tensor& x) const {
  if (channels_last) return from_rows(at::linear(rows_of(x), weight.flatten(1), bias), x);
  return pointwise(weight, x) + bias.view({1, -1, 1, 1, 1});
}

UNet3d::Conv UNet3d::make_conv(const std::string& name, std::int64_t out, std::int64_t in,
                               const Axes& kernel, const Axes& stride) {
  Conv conv;
  conv.weight =
      parameters_.conv(name + ".weight", out, in, std::vector(kernel.begin(), kernel.end()));
  conv.scale = parameters_.constant(name + ".norm.scale", out, 1.0f);
  conv.offset = parameters_.constant(name + ".norm.offset", out, 0.0f);
  conv.stride = stride;
  conv.channels_last = config_.channels_last;
  return conv;
}

UNet3d::Block UNet3d::make_block(const std::string& name, std::int64_t out, std::int64_t in,
                                 const Axes& kernel, const Axes& stride) {
  Block block;
  block.first = make_conv(name + ".0", out, in, kernel, stride);
  block.second = make_conv(name + ".1", out, out, kernel);
  if (in != out) block.skip.push_back(make_conv(name + ".skip", out, in, kOnes));
  return block;
}

UNet3d::UNet3d(const UNet3dConfig& config) : config_(completed(config)), parameters_(config.seed) {
  check(config_);
  const auto& [widths, channels, classes, seed, strides, kernels, channels_last] = config_;
  const std::size_t levels = widths.size();
  for (std::size_t l = 0; l < levels; ++l) {
    const std::string name = fmt::format("encoder.{}", l);
    const int in = l == 0 ? channels : widths[l - 1];
    encoder_.push_back({make_block(name + ".0", widths[l], in, kernels[l], strides[l])});
    if (l > 0) {
      encoder_.back().push_back(make_block(name + ".1", widths[l], widths[l], kernels[l]));
    }
  }
  for (std::size_t l = 0; l + 1 < levels; ++l) {
    const std::string name = fmt::format("decoder.{}", l);
    narrow_.push_back(make_conv(name + ".narrow", widths[l], widths[l + 1], kOnes));
    decoder_.push_back(make_block(name, widths[l], 2 * widths[l], kernels[l]));
    heads_.push_back({parameters_.conv(name + ".head.weight", classes, widths[l], {1, 1, 1}),
                      parameters_.constant(name + ".head.bias", classes, 0.0f), channels_last});
  }
}

UNet3dConfig::Axes UNet3d::edge_divisors() const noexcept {
  Axes divisors = kOnes;
  for (const Axes& stride : config_.strides) {
    for (std::size_t axis = 0; axis < 3; ++axis) divisors[axis] *= stride[axis];
  }
  return divisors;
}

std::vector<at::Tensor> UNet3d::decode(const at::Tensor& images) const {
  const Axes divisors = edge_divisors();
  const auto divisible = [&](std::int64_t axis) {
    return images.size(axis) % divisors[static_cast<std::size_t>(axis - 2)] == 0;
  };
  if (images.dim() != 5 || images.size(1) != config_.channels || !divisible(2) || !divisible(3) ||
      !divisible(4)) {
    fail(ErrorCode::usage,
         "patch: the model takes {} channel(s) with edges divisible by {}; the batch has shape {}. "
         "Change patch.size or model.widths.",
         config_.channels, fmt::join(divisors, ", "), fmt::join(images.sizes().vec(), "×"));
  }
  const bool last = config_.channels_last;
  at::Tensor x = last ? images.contiguous(at::MemoryFormat::ChannelsLast3d) : images;
  std::vector<at::Tensor> skips;
  for (const auto& level : encoder_) {
    for (const Block& block : level) x = block(x);
    skips.push_back(x);
  }
  std::vector<at::Tensor> features(decoder_.size());
  for (std::size_t l = decoder_.size(); l-- > 0;) {
    const at::Tensor& skip = skips[l];
    x = narrow_[l](x, kSlope);
    x = last ? repeated(x, config_.strides[l + 1])
             : at::upsample_nearest3d(x, at::IntArrayRef{skip.size(2), skip.size(3), skip.size(4)});
    x = decoder_[l](at::cat({skip, x}, 1));
    features[l] = x;
  }
  return features;
}

at::Tensor UNet3d::forward(const at::Tensor& images) const {
  return heads_.front()(decode(images).front());
}

std::vector<at::Tensor> UNet3d::forward_levels(const at::Tensor& images) const {
  std::vector<at::Tensor> levels = decode(images);
  for (std::size_t l = 0; l < levels.size(); ++l) levels[l] = heads_[l](levels[l]);
  return levels;
}

}  // namespace headrace::model
