#include "learn/model/parameters.hpp"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <set>

#include "headrace/core/error.hpp"
#include "headrace/math/philox.hpp"

namespace headrace::model {
namespace {
/// Keeps these counters apart from those of the samples, which share the seed.
constexpr std::uint32_t kInitStream = 0x6d6f646cu;
}  // namespace

at::Tensor Parameters::add(const std::string& name, at::Tensor tensor) {
  tensor.requires_grad_(true);
  all_.push_back({name, tensor});
  return tensor;
}

at::Tensor Parameters::conv(const std::string& name, std::int64_t out, std::int64_t in,
                            const std::vector<std::int64_t>& kernel) {
  std::vector<std::int64_t> shape{out, in};
  shape.insert(shape.end(), kernel.begin(), kernel.end());
  at::Tensor tensor = at::empty(shape, at::kFloat);
  const std::int64_t fan_in = tensor.numel() / out;
  const auto bound = static_cast<float>(std::sqrt(6.0 / static_cast<double>(fan_in)));
  const auto place = static_cast<std::uint32_t>(all_.size());
  float* values = tensor.data_ptr<float>();
  for (std::int64_t i = 0; i < tensor.numel(); i += 4) {
    const math::Philox4 counter{{static_cast<std::uint32_t>(i / 4), place, kInitStream, 0}};
    const math::Philox4 words = math::philox4x32_10(counter, static_cast<std::uint32_t>(seed_),
                                                    static_cast<std::uint32_t>(seed_ >> 32));
    for (std::int64_t j = 0; j < 4 && i + j < tensor.numel(); ++j) {
      values[i + j] = (math::uniform01(words.v[j]) * 2.0f - 1.0f) * bound;
    }
  }
  return add(name, tensor);
}

at::Tensor Parameters::constant(const std::string& name, std::int64_t count, float value) {
  return add(name, at::full({count}, value, at::kFloat));
}

void Parameters::take(const std::string& name, at::Tensor tensor, bool trained) {
  if (tensor.scalar_type() != at::kFloat)
    fail(ErrorCode::usage,
         "tensor {} of the network is of type {}; only float32 is trained and saved.", name,
         c10::toString(tensor.scalar_type()));
  tensor.requires_grad_(trained);
  if (!trained) states_.push_back(all_.size());
  all_.push_back({name, std::move(tensor)});
}

void Parameters::freeze(const std::vector<std::string>& parts) {
  for (const std::string& part : parts) {
    bool found = false;
    std::set<std::string> tops;
    for (const NamedTensor& parameter : all_) {
      tops.insert(parameter.name.substr(0, parameter.name.find('.')));
      if (parameter.name != part && !parameter.name.starts_with(part + ".")) continue;
      parameter.tensor.requires_grad_(false);
      found = true;
    }
    if (found) continue;
    fail(ErrorCode::usage,
         "train.freeze: no tensor's name begins with '{}'. The model has {}; weights files list "
         "the names in full.",
         part, fmt::join(tops, ", "));
  }
  if (trainable().empty()) {
    fail(ErrorCode::usage, "train.freeze: every tensor is frozen; leave one to train.");
  }
}

std::vector<NamedTensor> Parameters::states() const {
  std::vector<NamedTensor> out;
  for (const std::size_t place : states_) out.push_back(all_[place]);
  return out;
}

std::vector<NamedTensor> Parameters::trainable() const {
  std::vector<NamedTensor> out;
  std::copy_if(all_.begin(), all_.end(), std::back_inserter(out),
               [](const NamedTensor& parameter) { return parameter.tensor.requires_grad(); });
  return out;
}

void Parameters::place(at::Device device, bool channels_last) {
  const at::NoGradGuard no_grad;
  for (NamedTensor& parameter : all_) {
    at::Tensor moved = parameter.tensor.detach().to(device);
    if (channels_last && moved.dim() == 4) moved = moved.contiguous(at::MemoryFormat::ChannelsLast);
    if (channels_last && moved.dim() == 5 && !device.is_cpu()) {
      // clone, since contiguous leaves the strides of one channel as they are, and by the weight's
      // strides a convolution chooses its layout.
      moved = moved.clone(at::MemoryFormat::ChannelsLast3d);
    }
    parameter.tensor.set_data(moved);
  }
}

std::int64_t Parameters::count() const {
  std::int64_t sum = 0;
  for (const NamedTensor& parameter : all_) sum += parameter.tensor.numel();
  return sum;
}

}  // namespace headrace::model
