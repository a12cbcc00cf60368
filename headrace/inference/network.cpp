#include "headrace/inference/network.hpp"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/softmax.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "headrace/core/error.hpp"
#include "headrace/core/sha256.hpp"
#include "headrace/core/threads.hpp"
#include "headrace/device/cuda_device.hpp"
#include "headrace/device/pinned_range.hpp"
#include "headrace/inference/make_net.hpp"
#include "headrace/inference/python_plugin.hpp"
#include "headrace/model/adamw.hpp"
#include "headrace/model/flat_gradients.hpp"
#include "headrace/model/loss.hpp"
#include "headrace/model/runtime.hpp"
#include "headrace/model/safetensors.hpp"
#include "headrace/model/transfer.hpp"
#include "headrace/model/weight_average.hpp"

namespace headrace::inference {
namespace {

constexpr const char* kWeightPrefix = "model.";
constexpr const char* kOptimiserPrefix = "optimiser.";
constexpr const char* kAveragePrefix = "average.";
constexpr const char* kStepKey = "optimiser_steps";
constexpr const char* kFactsKey = "optimiser_facts";
constexpr std::uintptr_t kAlign = 64;  // of LibTorch's own tensors

at::Tensor class_weights(const loader::RunConfig& config, std::size_t classes) {
  const auto& given = config.train.class_weights;
  if (given.empty()) return at::ones({static_cast<std::int64_t>(classes)}, at::kFloat);
  if (given.size() != classes) {
    fail(ErrorCode::usage,
         "train.class_weights: {} values for the {} classes of the store. Give one for each class, "
         "in the order of headrace info.",
         given.size(), classes);
  }
  return at::tensor(given, at::kDouble).to(at::kFloat);
}

model::ClassSets sets_of(const loader::Batch& batch) {
  model::ClassSets sets;
  for (const ClassSet& set : batch.class_sets)
    sets.emplace_back(set.classes.begin(), set.classes.end());
  return sets;
}

at::ScalarType type_of(transform::Element element) {
  switch (element) {
    case transform::Element::float16:
      return at::kHalf;
    case transform::Element::bfloat16:
      return at::kBFloat16;
    default:
      return at::kFloat;
  }
}

/// Samples of part `part` of a batch, at an address aligned like that of a separate tensor, so that
/// a kernel does not choose its algorithm by the part's place in the batch.
at::Tensor part_of(const at::Tensor& batch, std::int64_t part, std::int64_t parts) {
  const std::int64_t samples = batch.size(0) / parts;
  const at::Tensor values = batch.narrow(0, part * samples, samples);
  const auto address = reinterpret_cast<std::uintptr_t>(values.const_data_ptr());
  return address % kAlign == 0 ? values : values.clone();
}

void add(StepLosses& sum, const StepLosses& part) {
  sum.total += part.total;
  sum.cross_entropy += part.cross_entropy;
  sum.dice += part.dice;
}

StepLosses mean(StepLosses sum, std::int64_t parts) {
  for (double* value : {&sum.total, &sum.cross_entropy, &sum.dice}) {
    *value /= static_cast<double>(parts);
  }
  return sum;
}

/// LibTorch's threads. All cores are divided by the number of parts, whatever the number of
/// processes, since it decides the last bits.
int threads_of(const loader::RunConfig::Train& train) {
  if (train.threads > 0) return train.threads;
  return static_cast<int>(std::max<std::int64_t>(1, available_cores() / train.gradient_parts));
}

std::vector<std::int64_t> contiguous_strides(const std::vector<std::int64_t>& shape) {
  std::vector<std::int64_t> strides(shape.size(), 1);
  for (std::size_t i = shape.size(); i-- > 1;) strides[i - 1] = strides[i] * shape[i];
  return strides;
}

std::vector<model::NamedTensor> prefixed(const std::vector<model::NamedTensor>& tensors,
                                         const std::string& prefix) {
  std::vector<model::NamedTensor> out = tensors;
  for (auto& entry : out) entry.name = prefix + entry.name;
  return out;
}

}  // namespace

struct Network::State {
  State(const loader::RunConfig& config, std::size_t classes, std::int64_t channels)
      : runtime(model::configure_runtime(threads_of(config.train), config.loader.device,
                                         config.train.amp, config.train.deterministic)),
        net(make_net(config, classes, channels)),
        weights(class_weights(config, classes).to(runtime.device)),
        config(config),
        channels(channels) {
    net->parameters().place(runtime.device, /*channels_last=*/true);
    net->parameters().freeze(config.train.freeze);
    if (config.train.ema == 0) return;
    average = make_net(config, classes, channels);
    average->parameters().place(runtime.device, /*channels_last=*/true);
  }

  /// The network that predicts and whose weights are saved: the average, where one is kept.
  model::SegmentationNet& judged() const { return average ? *average : *net; }

  /// The average begins with the current weights.
  void restart_average() {
    if (average) model::copy_parameters(net->parameters(), average->parameters());
  }

  /// The batch's memory as a tensor, in place. from_blob does not take const; the memory is only
  /// read.
  static at::Tensor tensor(const loader::Batch& batch, const void* data,
                           const std::vector<std::int64_t>& shape,
                           const std::vector<std::int64_t>& strides, at::ScalarType type) {
    const at::Device where =
        batch.device < 0 ? at::Device(at::kCPU)
                         : at::Device(at::kCUDA, static_cast<c10::DeviceIndex>(batch.device));
    return at::for_blob(const_cast<void*>(data), shape)
        .strides(strides)
        .options(at::TensorOptions(type).device(where))
        .target_device(where)
        .make_tensor();
  }

  /// Forward, loss and backward of the parts of a batch, which are parts `first`, first + 1, … of
  /// the step; `done` gets each part's losses. Unless it
  /// takes the gradients, those of the next part are added to them.
  template <typename Done>
  void each_part(const loader::Batch& batch, std::int64_t first, std::int64_t parts,
                 const Done& done) {
    if (batch.labels == nullptr) {
      fail(ErrorCode::internal, "A training batch came without labels.");
    }
    hold(batch);
    const at::Tensor values = images(batch), truth = labels(batch);
    const bool whole = config.train.gradient_parts == 1;
    for (std::int64_t p = 0; p < parts; ++p) {
      net->seed_part(optimiser().steps(), first + p);
      done(p, add_gradients(whole ? values : part_of(values, p, parts),
                            whole ? truth : part_of(truth, p, parts), batch));
    }
  }

  /// Processes add up gradients, not what a network changes by itself.
  void check_alone(std::int64_t own_parts) const {
    if (own_parts == config.train.gradient_parts || !config.model.own.given()) return;
    for (const auto& [name, tensor] : net->parameters().states()) {
      fail(ErrorCode::usage,
           "model.module: the network changes tensor {} by itself, from the samples of one process "
           "alone. Train it in one process, or with a normalisation without running means.",
           name);
    }
  }

  /// Made when it is first needed, as predictions need none.
  model::Optimiser& optimiser() {
    const loader::RunConfig::Train& train = config.train;
    if (stepping) return *stepping;
    if (train.own_optimiser.given()) {
      stepping = python_optimiser(train.own_optimiser, net->parameters(), train.lr);
    } else {
      stepping = std::make_unique<model::AdamW>(net->parameters(), train.weight_decay);
    }
    return *stepping;
  }

  model::FlatGradients& flat() {
    if (!gradients) gradients.emplace(net->parameters());
    return *gradients;
  }

  /// Clips and steps.
  StepLosses update(StepLosses losses, double learning_rate) {
    losses.gradient_norm = model::clip_gradients(net->parameters(), config.train.clip_norm);
    optimiser().step(learning_rate);
    if (average) {
      model::average_weights(net->parameters(), average->parameters(), config.train.ema,
                             optimiser().steps());
    }
    return losses;
  }

  model::LossTerms loss_of(const std::vector<at::Tensor>& levels, const at::Tensor& labels,
                           const model::ClassSets& sets) {
    const loader::RunConfig::Train& train = config.train;
    if (!train.own_loss.given()) {
      return model::deep_supervision_loss(levels, labels, weights, train.dice_weight, sets,
                                          train.loss);
    }
    if (!own_loss) own_loss = python_loss(train.own_loss);
    model::LossTerms loss =
        model::segmentation_loss(levels.front().detach(), labels, weights, 1, sets);
    loss.total = model::loss_over_levels(levels, labels, own_loss);
    return loss;
  }

  /// Forward, loss and backward; gradients are added to those that the parameters hold.
  StepLosses add_gradients(const at::Tensor& images, const at::Tensor& labels,
                           const loader::Batch& batch) {
    model::LossTerms loss;
    {
      const model::Autocast autocast(runtime);
      loss = loss_of(net->forward_levels(images), labels, sets_of(batch));
    }
    StepLosses out;
    out.total = loss.total.item<double>();
    if (!std::isfinite(out.total)) {
      fail(ErrorCode::diverged, "The loss of batch {} of epoch {} is {}. Lower train.lr{}.",
           batch.index, batch.epoch, out.total,
           config.train.clip_norm > 0 ? " or train.clip_norm" : ", or set train.clip_norm");
    }
    out.cross_entropy = loss.cross_entropy.item<double>();
    out.dice = loss.dice.item<double>();
    backward(loss.total);
    return out;
  }

  /// Trained tensors that the loss does not depend on (heads of a network that are not in use) get
  /// gradients of 0.
  void backward(const at::Tensor& loss) {
    try {
      loss.backward();
    } catch (const c10::OutOfMemoryError&) {
      throw;
    } catch (const std::exception& error) {
      if (!config.model.own.given() && !config.train.own_loss.given()) throw;
      fail(ErrorCode::usage, "The backward pass of model.module or train.loss.module: {}",
           error.what());
    }
    for (const auto& parameter : net->parameters().trainable()) {
      at::Tensor value = parameter.tensor;
      if (!value.grad().defined()) value.mutable_grad() = at::zeros_like(value.detach());
    }
  }

  /// All later computation waits for a batch that its GPU is still making.
  void hold(const loader::Batch& batch) const {
    if (batch.device < 0) return;
    const c10::impl::VirtualGuardImpl cuda(at::kCUDA);
    const c10::Stream stream =
        cuda.getStream(at::Device(at::kCUDA, static_cast<c10::DeviceIndex>(batch.device)));
    batch.hold(static_cast<CUstream_st*>(stream.native_handle()));
  }

  at::Tensor images(const loader::Batch& batch) const {
    const at::Tensor values = tensor(batch, batch.images, batch.images_shape(),
                                     batch.images_strides(), type_of(batch.format.element));
    // Without mixed precision the weights are float32, so the input must be float32 too.
    return values.to(runtime.device, runtime.bfloat16 ? values.scalar_type() : at::kFloat);
  }

  /// Softmax of what the network makes of `at_once` samples after the other, float32.
  at::Tensor probabilities_of(const at::Tensor& images, std::int64_t at_once) const {
    const model::Autocast autocast(runtime);
    std::vector<at::Tensor> parts;
    for (std::int64_t first = 0; first < images.size(0); first += at_once) {
      const std::int64_t samples = std::min(at_once, images.size(0) - first);
      at::Tensor part = images.narrow(0, first, samples);
      if (samples < at_once) {
        // As large as the others: LibTorch's kernels, and with them the last bits, go by the
        // number of samples, and an image's figures must not know what lies beside it.
        std::vector<std::int64_t> rest = images.sizes().vec();
        rest[0] = at_once - samples;
        part = at::cat({part, at::zeros(rest, images.options())});
      }
      parts.push_back(at::softmax(judged().forward(part).to(at::kFloat), 1).narrow(0, 0, samples));
    }
    return parts.size() == 1 ? parts.front() : at::cat(parts);
  }

  /// The values in the host's memory, until the next call.
  std::span<const float> give(const at::Tensor& values) {
    probabilities = values.contiguous().to(at::kCPU);
    return {probabilities.const_data_ptr<float>(), static_cast<std::size_t>(probabilities.numel())};
  }

  at::Tensor labels(const loader::Batch& batch) const {
    const std::vector<std::int64_t> shape = batch.labels_shape();
    return tensor(batch, batch.labels, shape, contiguous_strides(shape), at::kByte)
        .to(runtime.device);
  }

  model::Runtime runtime;
  std::unique_ptr<model::SegmentationNet> net;
  std::unique_ptr<model::SegmentationNet> average;  ///< with train.ema; else null
  at::Tensor weights;
  std::unique_ptr<model::Optimiser> stepping;
  model::LevelLoss own_loss;
  std::optional<model::FlatGradients> gradients;  ///< where other processes have parts too
  device::cuda::PinnedRange pinned;
  loader::RunConfig config;
  std::int64_t channels;
  at::Tensor probabilities;
};

Network::Network(const loader::RunConfig& config, std::size_t classes, std::int64_t channels)
    : state_(std::make_unique<State>(config, classes, channels)) {}
Network::~Network() = default;

StepLosses Network::step(const loader::Batch& batch, double learning_rate) {
  const std::int64_t parts = state_->config.train.gradient_parts;
  StepLosses sum;
  state_->each_part(batch, 0, parts, [&](std::int64_t, const StepLosses& part) { add(sum, part); });
  if (parts > 1) {
    model::scale_gradients(state_->net->parameters(), 1.0f / static_cast<float>(parts));
  }
  return state_->update(mean(sum, parts), learning_rate);
}

void Network::rehearse(const loader::Batch& batch, std::int64_t parts) {
  const at::NoGradGuard no_grad;
  const auto states = state_->net->parameters().states();
  std::vector<at::Tensor> before;
  for (const auto& state : states) before.push_back(state.tensor.clone());
  {
    const at::AutoGradMode grad(true);
    state_->each_part(batch, 0, parts, [](std::int64_t, const StepLosses&) {});
  }
  for (std::size_t i = 0; i < states.size(); ++i) states[i].tensor.copy_(before[i]);
  for (const auto& parameter : state_->net->parameters().all()) {
    at::Tensor value = parameter.tensor;
    value.mutable_grad().reset();
  }
}

void Network::put_parts(const loader::Batch& batch, ranks::OrderedAllReduce& sum) {
  state_->check_alone(sum.mine().count);
  state_->each_part(
      batch, sum.mine().first, sum.mine().count, [&](std::int64_t p, const StepLosses& part) {
        state_->flat().take(sum.part(p).data());
        const std::array<double, kPartValues> values{part.total, part.cross_entropy, part.dice};
        std::copy(values.begin(), values.end(), sum.values(p).begin());
      });
}

StepLosses Network::finish_step(const ranks::OrderedAllReduce& sum, double learning_rate) {
  const std::int64_t parts = state_->config.train.gradient_parts;
  StepLosses losses;
  for (std::int64_t p = 0; p < parts; ++p) {
    const auto values = sum.values_of(p);
    add(losses, {values[0], values[1], values[2]});
  }
  state_->flat().give(sum.total().data());
  return state_->update(mean(losses, parts), learning_rate);
}

std::int64_t Network::gradient_floats() const { return state_->flat().size(); }

void Network::pin(std::span<std::byte> memory) {
  state_->pinned = device::cuda::PinnedRange(memory);
}

std::span<const float> Network::predict(const loader::Batch& batch) {
  state_->hold(batch);
  const at::NoGradGuard no_grad;
  return state_->give(state_->probabilities_of(state_->images(batch), state_->config.eval.batch));
}

std::span<const float> Network::predict_each(const loader::Batch& batch, bool flips) {
  state_->hold(batch);
  const at::NoGradGuard no_grad;
  const at::Tensor images = state_->images(batch);
  const std::int64_t at_once = state_->runtime.device.is_cpu() ? 1 : state_->config.eval.batch;
  at::Tensor sum = state_->probabilities_of(images, at_once);
  if (!flips) return state_->give(sum);
  // The last two axes of images and of probabilities are y and x. Always in this order: sums of
  // floats depend on it.
  for (const std::vector<std::int64_t>& axes : {std::vector<std::int64_t>{-1}, {-2}, {-2, -1}})
    sum.add_(state_->probabilities_of(images.flip(axes), at_once).flip(axes));
  return state_->give(sum.mul_(0.25));
}

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

Json Network::runtime() const {
  const model::Runtime& runtime = state_->runtime;
  return {{"torch", runtime.torch_version},
          {"threads", runtime.threads},
          {"cpu_capability", runtime.cpu_capability},
          {"device", runtime.device.is_cuda() ? "cuda" : runtime.device.str()},
          {"bfloat16", runtime.bfloat16}};
}

Json Network::libraries() { return model::library_versions(); }

bool Network::on_gpu() const {
  return state_->runtime.device.is_cuda() && device::cuda::cuda_available();
}

std::int64_t Network::channels() const { return state_->channels; }

std::int64_t Network::parameter_count() const { return state_->net->parameters().count(); }

}  // namespace headrace::inference
