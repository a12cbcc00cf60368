#include "learn/inference/network.hpp"

#include <utility>

#include "headrace/device/cuda_device.hpp"
#include "learn/inference/network_state.hpp"

namespace headrace::inference {
namespace {

/// `part`: kPartValues of one.
void add(StepLosses& sum, const double* part) {
  sum.total += part[0];
  sum.cross_entropy += part[1];
  sum.dice += part[2];
}

StepLosses mean(StepLosses sum, std::int64_t parts) {
  for (double* value : {&sum.total, &sum.cross_entropy, &sum.dice}) {
    *value /= static_cast<double>(parts);
  }
  return sum;
}

}  // namespace

Network::Network(const config::RunConfig& config, std::size_t classes, std::int64_t channels)
    : state_(std::make_unique<State>(config, classes, channels)) {}
Network::~Network() = default;

void Network::start_step(const loader::Batch& batch, double learning_rate) {
  const std::int64_t parts = state_->config.train.gradient_parts;
  std::vector<at::Tensor> row;
  state_->each_part(batch, 0, parts,
                    [&](std::int64_t, const at::Tensor& part) { row.push_back(part); });
  if (parts > 1) {
    model::scale_gradients(state_->net->parameters(), 1.0f / static_cast<float>(parts));
  }
  row.push_back(exact(state_->update(learning_rate)).view({1}));
  state_->late.put(at::cat(row));
  state_->started.push_back({batch.index, batch.epoch});
}

StepLosses Network::read_step() {
  const State::Started of = state_->started.front();
  state_->started.pop_front();
  const model::LateReads::Step step = state_->late.take();
  const std::int64_t parts = state_->config.train.gradient_parts;
  StepLosses sum;
  for (std::int64_t p = 0; p < parts; ++p) {
    const double* part = step.row.data() + static_cast<std::size_t>(p) * kPartValues;
    state_->check_finite(part, of.index, of.epoch);
    add(sum, part);
  }
  StepLosses losses = mean(sum, parts);
  losses.gradient_norm = step.row.back();
  losses.times = step.times;
  return losses;
}

StepLosses Network::step(const loader::Batch& batch, double learning_rate) {
  start_step(batch, learning_rate);
  return read_step();
}

std::string Network::diverged_tensor() const {
  const at::NoGradGuard no_grad;
  const auto trained = state_->net->parameters().trainable();
  std::vector<at::Tensor> finite;
  for (const auto& parameter : trained)
    finite.push_back(parameter.tensor.detach().isfinite().all());
  const at::Tensor all = at::stack(finite).to(at::kCPU);
  for (std::size_t i = 0; i < trained.size(); ++i) {
    if (!all.const_data_ptr<bool>()[i]) return trained[i].name;
  }
  return "";
}

std::function<loader::Batch()> Network::copy_to_host(const loader::Batch& batch) {
  return host_copy(batch);
}

std::function<std::span<const std::uint8_t>()> Network::labels_on_host(
    const loader::Batch& batch) const {
  return host_labels(batch);
}

void Network::rehearse(const loader::Batch& batch, std::int64_t parts) {
  const at::NoGradGuard no_grad;
  const auto states = state_->net->parameters().states();
  std::vector<at::Tensor> before;
  for (const auto& state : states) before.push_back(state.tensor.clone());
  {
    const at::AutoGradMode grad(true);
    state_->each_part(batch, 0, parts,
                      [&](std::int64_t, const at::Tensor& part) { state_->read(part, batch); });
  }
  for (std::size_t i = 0; i < states.size(); ++i) states[i].tensor.copy_(before[i]);
  state_->drop_gradients();
}

void Network::put_parts(const loader::Batch& batch, ranks::OrderedAllReduce& sum) {
  state_->check_alone(sum.mine().count);
  state_->each_part(batch, sum.mine().first, sum.mine().count,
                    [&](std::int64_t p, const at::Tensor& part) {
                      const auto values = state_->read(part, batch);
                      state_->flat().take(sum.part(p).data());
                      std::copy(values.begin(), values.end(), sum.values(p).begin());
                    });
}

StepLosses Network::finish_step(const ranks::OrderedAllReduce& sum, double learning_rate) {
  const std::int64_t parts = state_->config.train.gradient_parts;
  StepLosses losses;
  for (std::int64_t p = 0; p < parts; ++p) {
    const auto values = sum.values_of(p);
    add(losses, values.data());
  }
  state_->flat().give(sum.total().data());
  losses = mean(losses, parts);
  losses.gradient_norm = state_->update(learning_rate).item<double>();
  return losses;
}

std::int64_t Network::gradient_floats() const { return state_->flat().size(); }

void Network::pin(std::span<std::byte> memory) {
  state_->pinned = device::cuda::PinnedRange(memory);
}

std::span<const float> Network::predict(const loader::Batch& batch) {
  hold(batch);
  const at::NoGradGuard no_grad;
  return state_->give(state_->predict(batch));
}

std::span<const float> Network::predict_each(const loader::Batch& batch, bool flips) {
  hold(batch);
  const at::NoGradGuard no_grad;
  return state_->give(state_->predict_each(batch, flips));
}

Network::There Network::predict_there(const loader::Batch& batch) {
  hold(batch);
  const at::NoGradGuard no_grad;
  return state_->give_there(state_->predict(batch), batch);
}

Network::There Network::predict_each_there(const loader::Batch& batch, bool flips) {
  hold(batch);
  const at::NoGradGuard no_grad;
  return state_->give_there(state_->predict_each(batch, flips), batch);
}

Network::There Network::take_predicted(const loader::Batch& batch,
                                       std::span<const float> probabilities) {
  hold(batch);
  return state_->take_predicted(batch, probabilities);
}

void Network::wait_until_taken() {
  const auto taken = std::exchange(state_->taken, std::nullopt);
  if (taken) model::wait_asleep(*taken);
}

std::vector<float> Network::probabilities_of(std::int64_t sample) const {
  const at::Tensor values = state_->probabilities.select(0, sample).contiguous().to(at::kCPU);
  const float* first = values.const_data_ptr<float>();
  return {first, first + values.numel()};
}

int Network::device() const {
  return state_->runtime.device.is_cpu() ? -1 : state_->runtime.device.index();
}

bool Network::blends_there() const { return state_->blends_there; }

Json Network::runtime() const {
  const model::Runtime& runtime = state_->runtime;
  return {{"torch", runtime.torch_version},
          {"threads", runtime.threads},
          {"cpu_capability", runtime.cpu_capability},
          {"device", runtime.device.is_cuda() ? "cuda" : runtime.device.str()},
          {"bfloat16", runtime.bfloat16}};
}

Json Network::python_code() const {
  const config::RunConfig& config = state_->config;
  return inference::python_code(
      {config.model.own, config.train.own_loss, config.train.own_optimiser});
}

Json Network::libraries() { return model::library_versions(); }

bool Network::on_gpu() const {
  return state_->runtime.device.is_cuda() && device::cuda::cuda_available();
}

std::int64_t Network::channels() const { return state_->channels; }

std::int64_t Network::parameter_count() const { return state_->net->parameters().count(); }

}  // namespace headrace::inference
