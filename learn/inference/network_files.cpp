// Weights and checkpoints of a network: see network.hpp.
#include <charconv>

#include "headrace/core/sha256.hpp"
#include "learn/inference/network_state.hpp"
#include "learn/model/safetensors.hpp"
#include "learn/model/transfer.hpp"
#include "learn/runs/weights_identity.hpp"

namespace headrace::inference {
namespace {

using runs::kWeightPrefix;
constexpr const char* kOptimiserPrefix = "optimiser.";
constexpr const char* kAveragePrefix = "average.";
constexpr const char* kStepKey = "optimiser_steps";
constexpr const char* kFactsKey = "optimiser_facts";

std::vector<model::NamedTensor> prefixed(const std::vector<model::NamedTensor>& tensors,
                                         const std::string& prefix) {
  std::vector<model::NamedTensor> out = tensors;
  for (auto& entry : out) entry.name = prefix + entry.name;
  return out;
}

}  // namespace

std::string Network::weights(const Metadata& metadata) const {
  return model::to_safetensors(prefixed(state_->judged().parameters().all(), kWeightPrefix),
                               metadata);
}

std::string Network::weights_sha256() const {
  return sha256_hex(model::to_safetensors(state_->net->parameters().all(), {}));
}

std::string Network::checkpoint(const Metadata& metadata) const {
  auto tensors = prefixed(state_->net->parameters().all(), kWeightPrefix);
  const model::OptimiserState optimiser = state_->optimiser().state();
  const auto moments = prefixed(optimiser.tensors, kOptimiserPrefix);
  tensors.insert(tensors.end(), moments.begin(), moments.end());
  if (state_->average) {
    const auto average = prefixed(state_->average->parameters().all(), kAveragePrefix);
    tensors.insert(tensors.end(), average.begin(), average.end());
  }
  Metadata all = metadata;
  all[kStepKey] = std::to_string(state_->optimiser().steps());
  if (!optimiser.facts.empty()) all[kFactsKey] = optimiser.facts;
  return model::to_safetensors(tensors, all);
}

Network::Metadata Network::restore(std::span<const std::byte> bytes, const std::string& origin) {
  const model::Safetensors file = model::parse_safetensors(bytes, origin);
  model::load_parameters(state_->net->parameters(), file.tensors, kWeightPrefix, origin);
  if (state_->average) {
    model::load_parameters(state_->average->parameters(), file.tensors, kAveragePrefix, origin);
  }
  model::OptimiserState optimiser;
  if (const auto facts = file.metadata.find(kFactsKey); facts != file.metadata.end())
    optimiser.facts = facts->second;
  for (const auto& entry : file.tensors) {
    if (!entry.name.starts_with(kOptimiserPrefix)) continue;
    optimiser.tensors.push_back(
        {entry.name.substr(std::string(kOptimiserPrefix).size()), entry.tensor});
  }
  const auto steps = file.metadata.find(kStepKey);
  std::int64_t count = 0;
  if (steps == file.metadata.end() ||
      std::from_chars(steps->second.data(), steps->second.data() + steps->second.size(), count)
              .ec != std::errc()) {
    fail(ErrorCode::malformed, "{}: the metadata has no {}; this is not a checkpoint.", origin,
         kStepKey);
  }
  with_context(origin, [&] { state_->optimiser().restore(optimiser, count); });
  return file.metadata;
}

void Network::load_weights(std::span<const std::byte> bytes, const std::string& origin) {
  const model::Safetensors file = model::parse_safetensors(bytes, origin);
  model::load_parameters(state_->net->parameters(), file.tensors, kWeightPrefix, origin);
  state_->restart_average();
}

Json Network::start_from(std::span<const std::byte> weights,
                         const std::vector<std::string>& classes, const std::string& origin) {
  const model::Safetensors file = model::parse_safetensors(weights, origin);
  std::vector<std::string> theirs;
  if (const auto found = file.metadata.find("classes"); found != file.metadata.end()) {
    theirs = parse_json(found->second, origin).get<std::vector<std::string>>();
  }
  const model::Transfer done = model::transfer_parameters(state_->net->parameters(), file.tensors,
                                                          kWeightPrefix, classes, theirs, origin);
  state_->restart_average();
  return {{"tensors_taken", done.taken.size()},
          {"tensors_fresh", done.fresh},
          {"tensors_unused", done.unused},
          {"classes_taken", done.taken_classes},
          {"classes_fresh", done.fresh_classes}};
}

}  // namespace headrace::inference
