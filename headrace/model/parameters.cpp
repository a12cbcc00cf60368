#include "headrace/model/parameters.hpp"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>

#include <cmath>

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

void Parameters::place(at::Device device, bool channels_last) {
  const at::NoGradGuard no_grad;
  for (NamedTensor& parameter : all_) {
    at::Tensor moved = parameter.tensor.detach().to(device);
    if (channels_last && moved.dim() == 4) moved = moved.contiguous(at::MemoryFormat::ChannelsLast);
    parameter.tensor.set_data(moved);
  }
}

std::int64_t Parameters::count() const {
  std::int64_t sum = 0;
  for (const NamedTensor& parameter : all_) sum += parameter.tensor.numel();
  return sum;
}

}  // namespace headrace::model
