#include "learn/model/flat_gradients.hpp"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/from_blob.h>

namespace headrace::model {
namespace {

at::Tensor host_row(float* data, std::int64_t size) {
  return at::for_blob(data, {size}).options(at::TensorOptions(at::kFloat)).make_tensor();
}

}  // namespace

FlatGradients::FlatGradients(const Parameters& parameters) {
  for (const NamedTensor& parameter : parameters.trainable()) {
    parameters_.push_back(parameter.tensor);
    size_ += parameter.tensor.numel();
  }
  const at::Tensor& any = parameters_.front();
  if (!any.is_cpu()) on_device_ = at::empty({size_}, any.options());
}

/// Stretches of a row as tensors of the parameters' shapes and strides.
std::vector<at::Tensor> FlatGradients::views(const at::Tensor& row) const {
  std::vector<at::Tensor> all;
  std::int64_t at = 0;
  for (const at::Tensor& parameter : parameters_) {
    all.push_back(row.as_strided(parameter.sizes(), parameter.strides(), at));
    at += parameter.numel();
  }
  return all;
}

void FlatGradients::take(float* row) const {
  const at::NoGradGuard no_grad;
  const at::Tensor host = host_row(row, size_);
  const auto targets = views(on_device_.defined() ? on_device_ : host);
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    at::Tensor target = targets[i];
    target.copy_(parameters_[i].grad());
    parameters_[i].mutable_grad().reset();
  }
  if (on_device_.defined()) host.copy_(on_device_);
}

void FlatGradients::give(const float* row) const {
  const at::NoGradGuard no_grad;
  const at::Tensor host = host_row(const_cast<float*>(row), size_);
  if (on_device_.defined()) on_device_.copy_(host);
  const auto sources = views(on_device_.defined() ? on_device_ : host);
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    // A tensor of its own, as backward makes it: nothing may depend on where it lies.
    at::Tensor gradient = at::empty_like(parameters_[i].detach());
    gradient.copy_(sources[i]);
    parameters_[i].mutable_grad() = gradient;
  }
}

}  // namespace headrace::model
