#include "learn/model/outside_net.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

#include "headrace/core/error.hpp"
#include "headrace/math/philox.hpp"

namespace headrace::model {
namespace {

/// Keeps these counters apart from those of samples and of first weights, which share the seed.
constexpr std::uint32_t kPartStream = 0x70617274u;

}  // namespace

OutsideNet::OutsideNet(std::unique_ptr<OutsideModule> module, std::int64_t classes,
                       std::uint64_t seed, bool slides)
    : module_(std::move(module)),
      classes_(classes),
      seed_(seed),
      slides_(slides),
      parameters_(seed) {
  for (const NamedTensor& weight : module_->weights()) {
    const bool trained = weight.tensor.requires_grad();
    parameters_.take(weight.name, weight.tensor, true);
    if (!trained) weight.tensor.requires_grad_(false);  // frozen by the network itself
  }
  for (const NamedTensor& state : module_->states())
    parameters_.take(state.name, state.tensor, false);
  if (parameters_.trainable().empty())
    fail(ErrorCode::usage, "model.module: the network has no parameter to train.");
}

std::vector<at::Tensor> OutsideNet::logits(const at::Tensor& images, bool training) const {
  const at::Tensor input = slides_ ? images.flatten(1, 2) : images;
  std::vector<at::Tensor> out = module_->forward(input, training);
  if (out.empty()) fail(ErrorCode::usage, "model.module: the network returned nothing.");
  std::vector<std::int64_t> expected = input.sizes().vec();
  expected[1] = classes_;
  if (out.front().sizes() != at::IntArrayRef(expected)) {
    fail(ErrorCode::usage,
         "model.module: of images ({}) the network made ({}); expected logits ({}), one for each "
         "class and pixel.",
         fmt::join(input.sizes().vec(), ", "), fmt::join(out.front().sizes().vec(), ", "),
         fmt::join(expected, ", "));
  }
  for (std::size_t l = 1; l < out.size(); ++l) check_level(l, out[l - 1], out[l]);
  return out;
}

void OutsideNet::check_level(std::size_t level, const at::Tensor& finer,
                             const at::Tensor& logits) const {
  bool fits =
      logits.dim() == finer.dim() && logits.size(0) == finer.size(0) && logits.size(1) == classes_;
  for (std::int64_t axis = 2; fits && axis < finer.dim(); ++axis) {
    const std::int64_t edge = logits.size(axis);
    fits = edge > 0 && (finer.size(axis) == edge || finer.size(axis) == 2 * edge);
  }
  if (fits) return;
  fail(ErrorCode::usage,
       "model.module: output {} of the network is ({}); expected logits of the next coarser level: "
       "{} classes, and edges as those before, or half of them.",
       level, fmt::join(logits.sizes().vec(), ", "), classes_);
}

at::Tensor OutsideNet::forward(const at::Tensor& images) const {
  return logits(images, false).front();
}

std::vector<at::Tensor> OutsideNet::forward_levels(const at::Tensor& images) const {
  return logits(images, true);
}

void OutsideNet::seed_part(std::int64_t step, std::int64_t part) {
  const math::Philox4 counter{{static_cast<std::uint32_t>(step), static_cast<std::uint32_t>(part),
                               kPartStream, static_cast<std::uint32_t>(step >> 32)}};
  const math::Philox4 words = math::philox4x32_10(counter, static_cast<std::uint32_t>(seed_),
                                                  static_cast<std::uint32_t>(seed_ >> 32));
  module_->seed(std::uint64_t{words.v[0]} << 32 | words.v[1]);
}

}  // namespace headrace::model
