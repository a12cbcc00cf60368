#include "learn/model/adamw.hpp"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/_foreach_mul.h>
#include <ATen/ops/_foreach_norm.h>
#include <ATen/ops/_fused_adamw.h>
#include <ATen/ops/full.h>
#include <ATen/ops/full_like.h>
#include <ATen/ops/linalg_vector_norm.h>
#include <ATen/ops/ones_like.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros_like.h>

#include <map>

#include "headrace/core/error.hpp"
#include "headrace/core/option_name.hpp"

namespace headrace::model {

AdamW::AdamW(const Parameters& parameters, double weight_decay) : groups_(2) {
  groups_[0].weight_decay = weight_decay;
  for (const NamedTensor& parameter : parameters.trainable()) {
    Group& group = groups_[parameter.tensor.dim() > 1 ? 0 : 1];
    const at::Tensor value = parameter.tensor.detach();
    group.values.push_back(parameter.tensor);
    group.first.push_back(at::zeros_like(value));
    group.second.push_back(at::zeros_like(value));
    if (!count_.defined()) count_ = at::full({}, 0, value.options());
    group.counts.push_back(count_);
    group.names.push_back(parameter.name);
  }
}

void AdamW::step(double learning_rate) {
  const at::NoGradGuard no_grad;
  ++steps_;
  count_.fill_(static_cast<double>(steps_));
  for (Group& group : groups_) {
    if (group.values.empty()) continue;  // the fused kernel takes no empty list
    std::vector<at::Tensor> gradients;
    for (const at::Tensor& value : group.values) gradients.push_back(value.grad());
    at::_fused_adamw_(group.values, gradients, group.first, group.second, {}, group.counts,
                      learning_rate, 0.9, 0.999, group.weight_decay, 1e-8, /*amsgrad=*/false,
                      /*maximize=*/false);
    for (at::Tensor& value : group.values) value.mutable_grad().reset();
  }
}

OptimiserState AdamW::state() const { return {moments(), {}}; }

std::vector<NamedTensor> AdamW::moments() const {
  std::vector<NamedTensor> all;
  for (const Group& group : groups_) {
    for (std::size_t i = 0; i < group.names.size(); ++i) {
      all.push_back({"first." + group.names[i], group.first[i]});
      all.push_back({"second." + group.names[i], group.second[i]});
    }
  }
  return all;
}

void AdamW::restore(const OptimiserState& state, std::int64_t steps) {
  const at::NoGradGuard no_grad;
  std::map<std::string, at::Tensor> by_name;
  for (const NamedTensor& entry : state.tensors) by_name[entry.name] = entry.tensor;
  for (const NamedTensor& own : moments()) {
    const auto found = by_name.find(own.name);
    if (found == by_name.end() || found->second.sizes() != own.tensor.sizes()) {
      fail(ErrorCode::corrupt,
           "The checkpoint has no optimiser state '{}' of shape {}: it is damaged, or of another "
           "network. Remove it, and {} goes on from the one before.",
           own.name, fmt::join(own.tensor.sizes().vec(), "×"), Option{"resume"});
    }
    at::Tensor target = own.tensor;
    target.copy_(found->second);
  }
  steps_ = steps;
}

void scale_gradients(const Parameters& parameters, float factor) {
  const at::NoGradGuard no_grad;
  for (const NamedTensor& parameter : parameters.trainable()) {
    at::Tensor gradient = parameter.tensor.grad();
    gradient.mul_(static_cast<double>(factor));
  }
}

at::Tensor clip_gradients(const Parameters& parameters, double limit) {
  const at::NoGradGuard no_grad;
  std::vector<at::Tensor> gradients;
  for (const NamedTensor& parameter : parameters.trainable())
    gradients.push_back(parameter.tensor.grad());
  const at::Tensor norm = at::linalg_vector_norm(at::stack(at::_foreach_norm(gradients, 2)), 2);
  if (limit <= 0) return norm;
  // 1 where nothing is clipped, which changes no bit: so the host need not know.
  const at::Tensor exact = norm.to(at::kDouble);
  const at::Tensor factor =
      at::where(exact.gt(limit), at::full_like(exact, limit).div(exact), at::ones_like(exact));
  at::_foreach_mul_(gradients, factor.to(norm.scalar_type()));
  return norm;
}

}  // namespace headrace::model
