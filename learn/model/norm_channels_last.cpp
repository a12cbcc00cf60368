#include "learn/model/norm_channels_last.hpp"

#include <ATen/TensorOperators.h>
#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/ops/addcmul.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/leaky_relu.h>
#include <ATen/ops/leaky_relu_backward.h>
#include <ATen/ops/var_mean.h>
#include <c10/core/DispatchKeySet.h>
#include <c10/core/impl/LocalDispatchKeySet.h>
#include <torch/csrc/autograd/custom_function.h>

#include <tuple>
#include <vector>

namespace headrace::model {
namespace {

constexpr double kEpsilon = 1e-5;

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

/// What is added up: float32, or float64 for float64.
at::ScalarType sum_type(const at::Tensor& x) {
  return x.scalar_type() == at::kDouble ? at::kDouble : at::kFloat;
}

/// One number a group, (n, groups, 1), as one a channel, (n, 1, c).
at::Tensor by_channel(const at::Tensor& groups, std::int64_t channels) {
  const std::int64_t samples = groups.size(0), count = groups.size(1);
  return groups.expand({samples, count, channels / count}).reshape({samples, 1, channels});
}

/// One number a channel, (n, c), as (n, groups, channels of a group).
at::Tensor by_group(const at::Tensor& channels, std::int64_t groups) {
  return channels.view({channels.size(0), groups, -1});
}

/// base + a · b in one pass, in the type of `out`.
at::Tensor sum_of_product(at::Tensor out, const at::Tensor& base, const at::Tensor& a,
                          const at::Tensor& b) {
  return at::addcmul_out(out, base, a, b);
}

/// Mean and 1 / standard deviation of each group, (n, groups, 1): first each channel's, along which
/// memory is read evenly, and then what its channels have together.
std::tuple<at::Tensor, at::Tensor> moments(const at::Tensor& rows, std::int64_t groups) {
  const auto [variance, mean] =
      at::var_mean(rows.to(sum_type(rows)), at::IntArrayRef{1}, /*correction=*/0);
  const at::Tensor means = by_group(mean, groups);
  const at::Tensor middle = means.mean(2, /*keepdim=*/true);
  const at::Tensor apart = means - middle;
  const at::Tensor spread = (by_group(variance, groups) + apart * apart).mean(2, /*keepdim=*/true);
  return {middle, (spread + kEpsilon).rsqrt()};
}

class NormChannelsLast : public torch::autograd::Function<NormChannelsLast> {
 public:
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x, std::int64_t groups,
                            const at::Tensor& scale, const at::Tensor& offset,
                            std::optional<double> slope) {
    const c10::impl::ExcludeDispatchKeyGuard as_it_is(c10::autocast_dispatch_keyset);
    const at::Tensor rows = rows_of(x);
    const std::int64_t channels = x.size(1);
    const auto [mean, inverse] = moments(rows, groups);
    const at::Tensor factor = by_channel(inverse, channels) * scale;
    const at::Tensor base = offset - by_channel(mean, channels) * factor;
    at::Tensor out = sum_of_product(at::empty_like(rows), base, rows, factor);
    if (slope) at::leaky_relu_(out, *slope);
    context->save_for_backward({rows, mean, inverse, scale, slope ? out : at::Tensor()});
    context->saved_data["slope"] = slope;
    return from_rows(out, x);
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const c10::impl::ExcludeDispatchKeyGuard as_it_is(c10::autocast_dispatch_keyset);
    const variable_list saved = context->get_saved_variables();
    const at::Tensor &rows = saved[0], &mean = saved[1], &inverse = saved[2], &scale = saved[3];
    const auto slope = context->saved_data["slope"].to<std::optional<double>>();
    const std::int64_t channels = rows.size(2), groups = mean.size(1);
    at::Tensor gradient = rows_of(gradients[0]);
    if (slope) {
      gradient = at::leaky_relu_backward(gradient, saved[4], *slope, /*self_is_result=*/true);
    }
    gradient = gradient.to(sum_type(rows));
    // Of each channel, (n, c).
    const at::Tensor sum = gradient.sum(1), with_x = (gradient * rows).sum(1);
    const at::Tensor means = by_channel(mean, channels).squeeze(1);
    const at::Tensor scale_gradient =
        ((with_x - sum * means) * by_channel(inverse, channels).squeeze(1)).sum(0);

    // Of each group, (n, groups, 1): dx = factor · gradient + slant · x + shift.
    const auto of_group = [&](const at::Tensor& values) {
      return by_group(values * scale, groups).sum(2, /*keepdim=*/true);
    };
    const double count = static_cast<double>(rows.size(1)) * static_cast<double>(channels / groups);
    const at::Tensor all = of_group(sum), all_with_x = of_group(with_x);
    const at::Tensor slant = (all * mean - all_with_x) * inverse * inverse * inverse / count;
    const at::Tensor shift = -slant * mean - all * inverse / count;
    const at::Tensor along =
        at::addcmul(by_channel(shift, channels), rows, by_channel(slant, channels));
    const at::Tensor out = sum_of_product(at::empty_like(rows), along, gradient,
                                          by_channel(inverse, channels) * scale);
    return {from_rows(out, gradients[0]), {}, scale_gradient, sum.sum(0), {}};
  }
};

}  // namespace

at::MemoryFormat channels_last_of(const at::Tensor& x) {
  return x.dim() == 4 ? at::MemoryFormat::ChannelsLast : at::MemoryFormat::ChannelsLast3d;
}

at::Tensor rows_of(const at::Tensor& x) {
  return x.contiguous(channels_last_of(x)).flatten(2).transpose(1, 2);
}

at::Tensor from_rows(const at::Tensor& rows, const at::Tensor& like) {
  std::vector<std::int64_t> shape = like.sizes().vec();
  shape[1] = rows.size(2);
  return rows.transpose(1, 2).view(shape);
}

at::Tensor norm_channels_last(const at::Tensor& x, std::int64_t groups, const at::Tensor& scale,
                              const at::Tensor& offset, std::optional<double> slope) {
  return NormChannelsLast::apply(x, groups, scale, offset, slope);
}

}  // namespace headrace::model
