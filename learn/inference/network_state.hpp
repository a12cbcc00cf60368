#pragma once
// What is behind Network: for network.cpp and network_files.cpp alone.
#include <ATen/core/grad_mode.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/softmax.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "headrace/core/error.hpp"
#include "headrace/core/threads.hpp"
#include "headrace/device/pinned_range.hpp"
#include "learn/inference/batch_tensors.hpp"
#include "learn/inference/make_net.hpp"
#include "learn/inference/network.hpp"
#include "learn/inference/python_plugin.hpp"
#include "learn/model/adamw.hpp"
#include "learn/model/flat_gradients.hpp"
#include "learn/model/host_copies.hpp"
#include "learn/model/late_reads.hpp"
#include "learn/model/loss.hpp"
#include "learn/model/precision.hpp"
#include "learn/model/runtime.hpp"
#include "learn/model/weight_average.hpp"

namespace headrace::inference {

inline at::Tensor class_weights(const config::RunConfig& config, std::size_t classes) {
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

/// One number, whatever its type, as a part of a row.
inline at::Tensor exact(const at::Tensor& value) {
  return value.detach().to(at::kDouble).reshape({});
}

/// LibTorch's threads. All cores are divided by the number of parts, whatever the number of
/// processes, since it decides the last bits.
inline int threads_of(const config::RunConfig::Train& train) {
  if (train.threads > 0) return train.threads;
  return static_cast<int>(std::max<std::int64_t>(1, available_cores() / train.gradient_parts));
}

/// HEADRACE_BLEND: whether tiles are blended where the model is. Errors: usage (another value).
inline bool blends_with_model(const at::Device& device) {
  const char* wish = std::getenv("HEADRACE_BLEND");
  const std::string_view where = wish == nullptr ? "" : wish;
  if (where.empty()) return !device.is_cpu();
  if (where == "host" || where == "model") return where == "model";
  fail(ErrorCode::usage, "HEADRACE_BLEND is '{}'; expected host or model.", where);
}

struct Network::State {
  State(const config::RunConfig& config, std::size_t classes, std::int64_t channels)
      : runtime(model::configure_runtime(threads_of(config.train), config.loader.device,
                                         config.loader.amp, config.train.deterministic)),
        blends_there(blends_with_model(runtime.device)),
        late(runtime.device),
        net(make_net(config, classes, channels, !runtime.device.is_cpu())),
        weights(class_weights(config, classes).to(runtime.device)),
        config(config),
        channels(channels) {
    net->parameters().place(runtime.device, /*channels_last=*/true);
    net->parameters().freeze(config.train.freeze);
    if (!config.model.own.given()) {
      model::settle_precision(runtime, config.loader.amp, config.train.deterministic,
                              [&](const model::Runtime& as) { try_step(as); });
    }
    if (config.train.ema == 0) return;
    average = make_net(config, classes, channels, !runtime.device.is_cpu());
    average->parameters().place(runtime.device, /*channels_last=*/true);
  }

  /// Forward and backward of one patch of zeros, without effect.
  void try_step(const model::Runtime& as) {
    const auto& patch = config.patch;
    std::vector<std::int64_t> shape{1, static_cast<std::int64_t>(patch.context.size()), 3,
                                    patch.height, patch.width};
    if (config.volumes) {
      const auto& [depth, height, width] = config.volume_patch.size_zyx;
      shape = {1, channels, depth, height, width};
    }
    const at::AutoGradMode grad(true);
    at::Tensor sum;
    {
      const model::Autocast autocast(as);
      for (const at::Tensor& level : net->forward_levels(at::zeros(shape, weights.options())))
        sum = sum.defined() ? sum.add(level.mean()) : level.mean();
    }
    sum.backward();  // as in a step, where it is outside too
    drop_gradients();
  }

  void drop_gradients() {
    for (const auto& parameter : net->parameters().all()) {
      at::Tensor value = parameter.tensor;
      value.mutable_grad().reset();
    }
  }

  /// The network that predicts and whose weights are saved: the average, where one is kept.
  model::SegmentationNet& judged() const { return average ? *average : *net; }

  /// The average begins with the current weights.
  void restart_average() {
    if (average) model::copy_parameters(net->parameters(), average->parameters());
  }

  /// Forward, loss and backward of the parts of a batch, which are parts `first`, first + 1, … of
  /// the step; `done` gets each part's losses, kPartValues of float64 where the model is. Unless it
  /// takes the gradients, those of the next part are added to them.
  template <typename Done>
  void each_part(const loader::Batch& batch, std::int64_t first, std::int64_t parts,
                 const Done& done) {
    if (batch.labels == nullptr) {
      fail(ErrorCode::internal, "A training batch came without labels.");
    }
    late.begin();
    hold(batch);
    late.batch_is_there();
    const at::Tensor values = images(batch), truth = labels(batch);
    const bool whole = config.train.gradient_parts == 1;
    for (std::int64_t p = 0; p < parts; ++p) {
      net->seed_part(optimiser().steps(), first + p);
      done(p, add_gradients(whole ? values : part_of(values, p, parts),
                            whole ? truth : part_of(truth, p, parts), batch));
    }
  }

  /// Errors: diverged, for a loss that is not finite. `part`: kPartValues of one.
  void check_finite(const double* part, std::uint64_t index, std::uint64_t epoch) const {
    if (std::isfinite(part[0])) return;
    fail(ErrorCode::diverged, "The loss of batch {} of epoch {} is {}. Lower train.lr{}.", index,
         epoch, part[0],
         config.train.clip_norm > 0 ? " or train.clip_norm" : ", or set train.clip_norm");
  }

  /// A part's losses, which the host waits for.
  std::array<double, kPartValues> read(const at::Tensor& part, const loader::Batch& batch) const {
    const at::Tensor here = part.to(at::kCPU);
    std::array<double, kPartValues> values{};
    std::copy_n(here.const_data_ptr<double>(), values.size(), values.begin());
    check_finite(values.data(), batch.index, batch.epoch);
    return values;
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
    const config::RunConfig::Train& train = config.train;
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

  /// Clips and steps. Returns the norm of the gradient before.
  at::Tensor update(double learning_rate) {
    const at::Tensor norm = model::clip_gradients(net->parameters(), config.train.clip_norm);
    optimiser().step(learning_rate);
    if (average) {
      model::average_weights(net->parameters(), average->parameters(), config.train.ema,
                             optimiser().steps());
    }
    return norm;
  }

  model::LossTerms loss_of(const std::vector<at::Tensor>& levels, const at::Tensor& labels,
                           const model::ClassSets& sets) {
    const config::RunConfig::Train& train = config.train;
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

  /// Forward, loss and backward; gradients are added to those that the parameters hold. Returns the
  /// losses, which the host does not wait for.
  at::Tensor add_gradients(const at::Tensor& images, const at::Tensor& labels,
                           const loader::Batch& batch) {
    model::LossTerms loss;
    {
      const model::Autocast autocast(runtime);
      loss = loss_of(net->forward_levels(images), labels, sets_of(batch));
    }
    backward(loss.total);
    return at::stack({exact(loss.total), exact(loss.cross_entropy), exact(loss.dice)});
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

  at::Tensor images(const loader::Batch& batch) const {
    const at::Tensor values = model::copy_to(runtime.device, images_of(batch));
    // Without mixed precision the weights are float32, so the input must be float32 too.
    return values.to(runtime.bfloat16 ? values.scalar_type() : at::kFloat);
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

  at::Tensor predict(const loader::Batch& batch) const {
    return probabilities_of(images(batch), config.tiles.batch);
  }

  at::Tensor predict_each(const loader::Batch& batch, bool flips) const {
    const at::Tensor values = images(batch);
    const std::int64_t at_once = runtime.device.is_cpu() ? 1 : config.tiles.batch;
    at::Tensor sum = probabilities_of(values, at_once);
    if (!flips) return sum;
    // The last two axes of images and of probabilities are y and x. Always in this order: sums of
    // floats depend on it.
    for (const std::vector<std::int64_t>& axes : {std::vector<std::int64_t>{-1}, {-2}, {-2, -1}})
      sum.add_(probabilities_of(values.flip(axes), at_once).flip(axes));
    return sum.mul_(0.25);
  }

  /// The values in the host's memory, until the next call.
  std::span<const float> give(const at::Tensor& values) {
    probabilities = values.contiguous().to(at::kCPU);
    return {probabilities.const_data_ptr<float>(), static_cast<std::size_t>(probabilities.numel())};
  }

  /// The values where they are, until the next call.
  There give_there(const at::Tensor& values, const loader::Batch& batch) {
    probabilities = values.contiguous();
    truth = batch.labels == nullptr ? at::Tensor() : labels(batch);
    return {probabilities.const_data_ptr<float>(),
            truth.defined() ? truth.const_data_ptr<std::uint8_t>() : nullptr};
  }

  at::Tensor labels(const loader::Batch& batch) const {
    return model::copy_to(runtime.device, labels_of(batch));
  }

  /// Probabilities (samples, classes[, depth], height, width) from the host. On a CPU a copy: what
  /// is given is written again.
  There take_predicted(const loader::Batch& batch, std::span<const float> values) {
    std::vector<std::int64_t> shape = batch.labels_shape();
    std::int64_t pixels = 1;
    for (const std::int64_t extent : shape) pixels *= extent;
    shape.insert(shape.begin() + 1, static_cast<std::int64_t>(values.size()) / pixels);
    const at::Tensor here = at::from_blob(const_cast<float*>(values.data()), shape, at::kFloat);
    const at::Tensor there = here.to(runtime.device, at::kFloat, /*non_blocking=*/true,
                                     /*copy=*/true);
    if (there.is_cuda()) taken.emplace(model::mark_in_stream(runtime.device));
    return give_there(there, batch);
  }

  /// A step whose losses are not read yet: its batch.
  struct Started {
    std::uint64_t index, epoch;
  };

  model::Runtime runtime;
  bool blends_there;
  model::LateReads late;  ///< a row a step: kPartValues of each part, the gradient's norm
  std::deque<Started> started;
  std::unique_ptr<model::SegmentationNet> net;
  std::unique_ptr<model::SegmentationNet> average;  ///< with train.ema; else null
  at::Tensor weights;
  std::unique_ptr<model::Optimiser> stepping;
  model::LevelLoss own_loss;
  std::optional<model::FlatGradients> gradients;  ///< where other processes have parts too
  device::cuda::PinnedRange pinned;
  config::RunConfig config;
  std::int64_t channels;
  at::Tensor probabilities, truth;  ///< of the batch that was predicted last
  std::optional<c10::Event> taken;  ///< when the host's memory of take_predicted was read
};

}  // namespace headrace::inference
