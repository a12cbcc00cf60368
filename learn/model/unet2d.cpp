#include "learn/model/unet2d.hpp"

#include <ATen/ops/avg_pool2d.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/conv2d.h>
#include <ATen/ops/group_norm.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/upsample_nearest2d.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <cmath>

#include "headrace/core/error.hpp"
#include "learn/model/norm_channels_last.hpp"

namespace headrace::model {
namespace {

constexpr std::int64_t kGroupChannels = 8;

void check(const UNet2dConfig& config) {
  if (config.widths.size() < 2 || config.widths.size() > 8) {
    fail(ErrorCode::usage, "model.widths: {} levels; unet2d takes 2 to 8.", config.widths.size());
  }
  for (const int width : config.widths) {
    if (width < 8 || width > 4096 || width % kGroupChannels != 0) {
      fail(ErrorCode::usage, "model.widths: {} is not a multiple of {} in 8..4096.", width,
           kGroupChannels);
    }
  }
  if (config.strides.size() != config.widths.size()) {
    fail(ErrorCode::usage, "model.strides: {} levels, but model.widths has {}.",
         config.strides.size(), config.widths.size());
  }
  for (const UNet2dConfig::Axes& axes : config.strides) {
    for (const std::int64_t stride : axes) {
      if (stride == 1 || stride == 2) continue;
      fail(ErrorCode::usage, "model.strides: {} is neither 1 nor 2.", stride);
    }
  }
  if (config.strides.front() != UNet2dConfig::Axes{1, 1}) {
    fail(ErrorCode::usage,
         "model.strides: the first level is the patch itself, so its stride is 1.");
  }
  if (config.context.empty() || config.context.front() != 1) {
    fail(ErrorCode::usage, "patch.context: the first context is the base patch and must be 1.");
  }
  if (config.classes < 2 || config.classes > 255) {
    fail(ErrorCode::usage, "The dataset has {} classes; a segmentation needs 2 to 255.",
         config.classes);
  }
}

/// With what was left out filled in.
UNet2dConfig completed(UNet2dConfig config) {
  if (!config.strides.empty()) return config;
  config.strides.assign(config.widths.size(), {2, 2});
  if (!config.strides.empty()) config.strides.front() = {1, 1};
  return config;
}

/// Half a level's width, still whole groups.
std::int64_t light(int width) {
  return std::max<std::int64_t>(kGroupChannels, width / 2 / kGroupChannels * kGroupChannels);
}

}  // namespace

at::Tensor concentric_matrix(std::int64_t size, int factor) {
  at::Tensor matrix = at::zeros({size, size}, at::kFloat);
  float* values = matrix.data_ptr<float>();
  const double half = static_cast<double>(size) / 2;
  for (std::int64_t i = 0; i < size; ++i) {
    const double at = (static_cast<double>(i) + 0.5 - half) / factor + half - 0.5;
    const double clamped = std::clamp(at, 0.0, static_cast<double>(size - 1));
    const auto low =
        std::min(static_cast<std::int64_t>(clamped), std::max<std::int64_t>(0, size - 2));
    const double part = clamped - static_cast<double>(low);
    values[i * size + low] += static_cast<float>(1 - part);
    if (low + 1 < size) values[i * size + low + 1] += static_cast<float>(part);
  }
  return matrix;
}

at::Tensor UNet2d::Conv::operator()(const at::Tensor& x) const {
  const std::int64_t pad = weight.size(2) / 2;
  const at::Tensor y = at::conv2d(x, weight, {}, stride, {pad, pad});
  const std::int64_t groups = weight.size(0) / kGroupChannels;
  if (channels_last) return norm_channels_last(y, groups, scale, offset, /*slope=*/0.0);
  return at::relu(at::group_norm(y, groups, scale, offset));
}

UNet2d::Conv UNet2d::make_conv(const std::string& name, std::int64_t out, std::int64_t in,
                               std::int64_t k, const UNet2dConfig::Axes& stride) {
  Conv conv;
  conv.weight = parameters_.conv(name + ".weight", out, in, k);
  conv.scale = parameters_.constant(name + ".norm.scale", out, 1.0f);
  conv.offset = parameters_.constant(name + ".norm.offset", out, 0.0f);
  conv.stride = stride;
  conv.channels_last = config_.channels_last;
  return conv;
}

UNet2d::UNet2d(const UNet2dConfig& config) : config_(completed(config)), parameters_(config.seed) {
  check(config_);
  const auto& widths = config.widths;
  const std::size_t levels = widths.size();
  for (std::size_t l = 0; l < levels; ++l) {
    const std::string name = fmt::format("encoder.{}", l);
    const int in = l == 0 ? 3 : widths[l - 1];
    encoder_.push_back({make_conv(name + ".0", widths[l], in, 3),
                        make_conv(name + ".1", widths[l], widths[l], 3)});
  }
  std::int64_t joined = widths.back();
  for (std::size_t k = 1; k < config.context.size(); ++k) {
    std::vector<Conv> encoder;
    std::int64_t in = 3;
    for (std::size_t l = 1; l < levels; ++l) {
      const std::int64_t out = light(widths[l]);
      encoder.push_back(
          make_conv(fmt::format("context.{}.{}.0", k, l), out, in, 3, config_.strides[l]));
      encoder.push_back(make_conv(fmt::format("context.{}.{}.1", k, l), out, out, 3));
      in = out;
    }
    joined += in;
    contexts_.push_back(std::move(encoder));
  }
  if (!contexts_.empty()) fuse_.push_back(make_conv("fuse", widths.back(), joined, 1));
  for (std::size_t l = 0; l + 1 < levels; ++l) {
    const std::string name = fmt::format("decoder.{}", l);
    narrow_.push_back(make_conv(name + ".narrow", widths[l], widths[l + 1], 1));
    decoder_.push_back({make_conv(name + ".0", widths[l], 2 * widths[l], 3),
                        make_conv(name + ".1", widths[l], widths[l], 3)});
  }
  head_weight_ = parameters_.conv("head.weight", config.classes, widths[0], 1);
  head_bias_ = parameters_.constant("head.bias", config.classes, 0.0f);
}

UNet2dConfig::Axes UNet2d::edge_divisors() const noexcept {
  UNet2dConfig::Axes divisors{1, 1};
  for (const auto& stride : config_.strides) {
    for (std::size_t axis = 0; axis < 2; ++axis) divisors[axis] *= stride[axis];
  }
  return divisors;
}

at::Tensor UNet2d::encode_context(std::size_t context, const at::Tensor& image) const {
  at::Tensor x = image;
  for (const Conv& conv : contexts_[context - 1]) x = conv(x);
  const int factor = config_.context[context];
  const at::Tensor rows = matrix(x.size(2), factor, x), columns = matrix(x.size(3), factor, x);
  return at::matmul(at::matmul(rows, x), columns.t());
}

/// concentric_matrix where `like` is and of its type. Kept: copying one to a GPU makes the host wait.
const at::Tensor& UNet2d::matrix(std::int64_t size, int factor, const at::Tensor& like) const {
  at::Tensor& kept = matrices_[{size, factor}];
  if (!kept.defined() || kept.device() != like.device() ||
      kept.scalar_type() != like.scalar_type()) {
    kept = concentric_matrix(size, factor).to(like.options());
  }
  return kept;
}

at::Tensor UNet2d::forward(const at::Tensor& images) const {
  const auto divisors = edge_divisors();
  if (images.dim() != 5 || images.size(1) != static_cast<std::int64_t>(config_.context.size()) ||
      images.size(2) != 3 || images.size(3) % divisors[0] != 0 ||
      images.size(4) % divisors[1] != 0) {
    fail(ErrorCode::usage,
         "patch: the model takes {} context(s) of 3 channels with edges divisible by {}; the batch "
         "has shape {}. Change patch.size, patch.context or model.widths.",
         config_.context.size(), fmt::join(divisors, ", "), fmt::join(images.sizes().vec(), "×"));
  }
  const auto plane = [&](std::int64_t context) {
    return images.select(1, context).contiguous(at::MemoryFormat::ChannelsLast);
  };
  at::Tensor x = plane(0);
  std::vector<at::Tensor> skips;
  for (std::size_t l = 0; l < encoder_.size(); ++l) {
    if (l > 0) x = at::avg_pool2d(x, config_.strides[l]);
    for (const Conv& conv : encoder_[l]) x = conv(x);
    skips.push_back(x);
  }
  if (!contexts_.empty()) {
    std::vector<at::Tensor> parts{x};
    for (std::size_t k = 1; k < config_.context.size(); ++k) {
      parts.push_back(encode_context(k, plane(static_cast<std::int64_t>(k)))
                          .contiguous(at::MemoryFormat::ChannelsLast));
    }
    x = fuse_.front()(at::cat(parts, 1));
  }
  for (std::size_t l = decoder_.size(); l-- > 0;) {
    const at::Tensor& skip = skips[l];
    x = at::upsample_nearest2d(narrow_[l](x), at::IntArrayRef{skip.size(2), skip.size(3)});
    x = at::cat({skip, x}, 1);
    for (const Conv& conv : decoder_[l]) x = conv(x);
  }
  if (!config_.channels_last) return at::conv2d(x, head_weight_, head_bias_);
  // The loss gives its gradient pixels innermost, which a convolution would make of x again.
  return from_rows(at::linear(rows_of(x), head_weight_.flatten(1), head_bias_), x);
}

}  // namespace headrace::model
