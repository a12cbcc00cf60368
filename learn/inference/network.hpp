#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "headrace/core/json.hpp"
#include "headrace/loader/loader.hpp"
#include "learn/config/run_config.hpp"
#include "learn/model/stream_times.hpp"
#include "learn/ranks/ordered_all_reduce.hpp"

namespace headrace::inference {

/// The measurements of one training step.
struct StepLosses {
  double total = 0, cross_entropy = 0, dice = 0, gradient_norm = 0;
  std::optional<model::StreamTimes> times = {};  ///< where a GPU took it
};

/// The model of a run with its optimiser, behind plain types. For one thread.
class Network {
 public:
  using Metadata = std::map<std::string, std::string>;

  /// Fixes LibTorch's threads and device for the process (train.threads, loader.device, train.amp).
  /// channels: of the images of a run on volumes. Errors: usage (model, patch, class weights or
  /// train.freeze that do not fit), unsupported (device).
  Network(const config::RunConfig& config, std::size_t classes, std::int64_t channels = 1);
  ~Network();

  /// Forward, loss and backward of each of train.gradient_parts parts, one after the other; the sum
  /// of their gradients in that order, times 1 / parts (both in float32); clip, optimiser, average
  /// of the weights. The losses are the parts' means. Errors: diverged when a loss is not finite. A
  /// batch on the model's GPU is used in place, in its format.
  StepLosses step(const loader::Batch& batch, double learning_rate);
  /// The same in two functions, so that the host need not wait for a GPU at every step: the first
  /// one puts all of a step into the GPU's stream; the other reads the oldest step that was not
  /// read, and waits for that one alone. A loss that is not finite is an error of the second, when
  /// that step and those started since have changed the weights already: see diverged_tensor.
  void start_step(const loader::Batch& batch, double learning_rate);
  StepLosses read_step();
  /// Name of the first trained tensor that holds a number that is not finite; empty: none. Waits
  /// for the device.
  std::string diverged_tensor() const;
  /// A copy of the batch in host memory, which need not outlive this call. What is returned waits
  /// for the copy, on any thread.
  std::function<loader::Batch()> copy_to_host(const loader::Batch& batch);
  /// The labels of a batch that has some, on the host: what is returned gives them in place, or
  /// waits for a copy that lies in the stream before all that is put there later; it keeps that
  /// copy.
  std::function<std::span<const std::uint8_t>()> labels_on_host(const loader::Batch& batch) const;
  /// The same with other processes, in two functions: one puts the gradients and losses of this
  /// process's parts into `sum` (the batch holds only their samples); the other, when all are
  /// summed, does the rest of the step.
  void put_parts(const loader::Batch& batch, ranks::OrderedAllReduce& sum);
  StepLosses finish_step(const ranks::OrderedAllReduce& sum, double learning_rate);
  /// Number of floats of a part, and of doubles that go with them.
  std::int64_t gradient_floats() const;
  static constexpr std::size_t kPartValues = 3;
  /// Memory of gradients that a GPU reaches directly. It must outlive the Network.
  void pin(std::span<std::byte> memory);
  /// Forward, loss and backward of `parts` equal parts of a batch, without effect: weights,
  /// optimiser and gradients do not change. Errors: those of step.
  void rehearse(const loader::Batch& batch, std::int64_t parts);
  /// Class probabilities of the weights that `weights` gives: (samples, classes[, depth], height,
  /// width); valid until the next call. The network is given eval.batch samples at once, the last
  /// ones filled up with zeros.
  std::span<const float> predict(const loader::Batch& batch);
  /// The same for a result that must not depend on how samples lie in batches: on a CPU one sample
  /// at a time, since LibTorch's kernels, and with them the last bits, go by their number. `flips`:
  /// the mean over the image, and the image mirrored along x, y and both.
  std::span<const float> predict_each(const loader::Batch& batch, bool flips);
  /// The two without the copy, so that the host waits for nothing: addresses in the model's memory
  /// (device()), for work that is put into LibTorch's current stream; valid until the next call,
  /// and labels no longer than the batch.
  struct There {
    const float* probabilities = nullptr;  ///< (samples, classes[, depth], height, width)
    const std::uint8_t* labels = nullptr;  ///< (samples[, depth], height, width); may be null
  };
  There predict_there(const loader::Batch& batch);
  There predict_each_there(const loader::Batch& batch, bool flips);
  /// The same of a batch that another process has predicted; its probabilities are on the host, and
  /// may be written again after wait_until_taken.
  There take_predicted(const loader::Batch& batch, std::span<const float> probabilities);
  void wait_until_taken();
  /// Probabilities of one sample of the last of these calls, on the host; waits for them.
  std::vector<float> probabilities_of(std::int64_t sample) const;
  /// The GPU of the model; -1: it is on the CPU.
  int device() const;
  /// Whether tiles are blended where the model is (tensor_canvas.hpp) rather than on the host:
  /// where it is on a GPU. Not a bit of a result depends on it. HEADRACE_BLEND=host|model in the
  /// environment decides otherwise, for tests and comparisons.
  bool blends_there() const;

  /// Safetensors bytes; equal weights and metadata give equal bytes. With train.ema these are the
  /// averaged weights.
  std::string weights(const Metadata& metadata) const;
  /// SHA-256 over the trained network's own tensors, names and values; not the averaged ones, which
  /// a small difference may not reach.
  std::string weights_sha256() const;
  /// Weights, optimiser and averaged weights.
  std::string checkpoint(const Metadata& metadata) const;
  /// Loads a checkpoint and returns the metadata that was saved with it. `origin` names the file in
  /// errors.
  Metadata restore(std::span<const std::byte> checkpoint, const std::string& origin);
  void load_weights(std::span<const std::byte> weights, const std::string& origin);

  /// Takes the weights of another training as initial ones, by name and shape, and rows of heads by
  /// the names of classes; the file's metadata has its classes (`classes`, a JSON list). Returns
  /// the outcome: {tensors_taken, tensors_fresh[], tensors_unused[], classes_taken[],
  /// classes_fresh[]}. Errors: usage (nothing fits), malformed.
  Json start_from(std::span<const std::byte> weights, const std::vector<std::string>& classes,
                  const std::string& origin);

  /// {torch, threads, cpu_capability, device (cpu or cuda), bfloat16}: all that the result depends
  /// on besides config and data.
  Json runtime() const;
  /// The code of the run's own functions in Python (python_plugin.hpp, python_code).
  Json python_code() const;
  /// Versions of the libraries that compute: {libtorch, onednn, mkl, cuda, cudnn}, those there are.
  static Json libraries();
  /// Whether the model, and so its batches, are on a GPU that the loader can also use.
  bool on_gpu() const;
  std::int64_t channels() const;
  std::int64_t parameter_count() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace headrace::inference
