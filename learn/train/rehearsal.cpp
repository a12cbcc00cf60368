#include "learn/train/rehearsal.hpp"

#include <algorithm>
#include <sstream>

#include "headrace/core/error.hpp"
#include "headrace/core/machine_memory.hpp"
#include "headrace/core/read_file.hpp"
#include "headrace/device/cuda_device.hpp"
#include "learn/model/torch_errors.hpp"
#include "learn/train/evaluate/evaluate.hpp"
#include "learn/train/evaluate/evaluation_memory.hpp"
#include "learn/train/evaluate/validation_subset.hpp"
#include "learn/train/feeding.hpp"
#include "learn/train/training_times.hpp"

namespace headrace::train {
namespace {

/// A line of /proc/self/status in bytes; 0 where there is none.
double status_bytes(const std::string& key) {
  std::istringstream file(read_file_if_there("/proc/self/status"));
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with(key + ":")) return std::stod(line.substr(key.size() + 1)) * 1024;
  }
  return 0;
}

/// Bytes in use on the model's device: of this process; on a GPU only differences are used.
double used_bytes(bool on_gpu) {
  return on_gpu ? -static_cast<double>(device::cuda::free_bytes()) : status_bytes("VmRSS");
}

/// The first `samples` of a batch.
loader::Batch first_of(const loader::Batch& batch, std::int64_t samples) {
  loader::Batch part = batch;
  part.samples = samples;
  part.sites.resize(static_cast<std::size_t>(samples));
  return part;
}

/// The memory that a step adds: one sample shows the cost of the first, including libraries and
/// their buffers, and a second one shows the cost of each further sample, which is multiplied by
/// the number in memory together. LibTorch keeps the memory that it has taken (model/runtime.cpp),
/// so the use afterwards is the need. Where two might not fit, the cost of the first is used for
/// all.
double bytes_of_a_step(inference::Network& network, const loader::Batch& batch,
                       std::int64_t together) {
  const bool on_gpu = network.on_gpu();
  const double before = used_bytes(on_gpu);
  network.rehearse(first_of(batch, 1), 1);
  const double first = std::max(0.0, used_bytes(on_gpu) - before);
  if (together == 1) return first;
  const double free = on_gpu ? static_cast<double>(device::cuda::free_bytes())
                             : machine_memory_bytes() - used_bytes(false);
  if (2 * first > free) return first * static_cast<double>(together);
  network.rehearse(first_of(batch, 2), 1);
  const double two = std::max(first, used_bytes(on_gpu) - before);
  return two + (two - first) * static_cast<double>(together - 2);
}

double ring_bytes(const loader::Batch& batch, const config::RunConfig& config) {
  return batch.device >= 0 ? 0
                           : static_cast<double>(config.loader.prefetch - 1) *
                                 static_cast<double>(batch.images_bytes() + batch.labels_bytes());
}

}  // namespace

void check_memory(const MemoryNeed& need, bool on_gpu, std::int64_t together) {
  if (need.needed_bytes <= need.present_bytes) return;
  constexpr double kGiB = 1 << 30;
  fail(
      ErrorCode::memory,
      "Training needs about {:.1f} GiB {} (a step measured on one sample and two, for {} "
      "together), but there are {:.1f}. Lower sampling.batch, patch.size or model.widths, or raise "
      "train.gradient_parts.",
      need.needed_bytes / kGiB, on_gpu ? "of the GPU" : "of this machine", together,
      need.present_bytes / kGiB);
}

namespace {

/// Runs `body`; an error that leaves it, LibTorch's too, says what was being tried.
template <typename Body>
decltype(auto) trying(const std::string& what, const Body& body) {
  return with_context("trying " + what, [&]() -> decltype(auto) { return model::in_words(body); });
}

/// Room for training and judging together, then one batch of training.
void try_training(inference::Network& network, const std::shared_ptr<const cohort::Cohort>& cohort,
                  const config::RunConfig& config,
                  const std::shared_ptr<const loader::SamplePlan>& plan,
                  const std::shared_ptr<const loader::Preprocessing>& preprocessing,
                  ranks::ProcessGroup& process_group, Rehearsed& out) {
  const loader::LoaderConfig fed =
      fed_config(config, network, ranks::share_of_cores(process_group));
  const std::int64_t together = config.sampling.batch / config.train.gradient_parts;
  loader::Loader loader(
      cohort, fed, plan, preprocessing,
      {.with_labels = true, .count = 1, .share = own_share(config, process_group)});
  const char* const one_batch = "one batch of training";
  const auto batch = trying(one_batch, [&] { return loader.next(); });
  const double used = status_bytes("VmRSS");
  if (out.on_gpu) out.gpu.present_bytes = static_cast<double>(device::cuda::free_bytes());
  const double step = trying(one_batch, [&] { return bytes_of_a_step(network, *batch, together); });
  if (out.on_gpu) {
    out.gpu.needed_bytes = step;
    check_memory(out.gpu, true, together);
  }
  // The processes of one machine share its memory.
  out.host.needed_bytes =
      (used + (out.on_gpu ? 0 : step) + ring_bytes(*batch, config)) * process_group.size() +
      evaluation_bytes(*cohort, config, *preprocessing, config.data.val,
                       {process_group.size(), network.blends_there()});
  out.host.present_bytes = machine_memory_bytes();
  check_memory(out.host, false, together * process_group.size());
  trying(one_batch, [&] {
    const Clock::time_point start = Clock::now();
    network.rehearse(*batch, batch->samples / together);
    out.step_s = seconds_since(start);
  });
}

}  // namespace

Rehearsed rehearse(inference::Network& network, const std::shared_ptr<const cohort::Cohort>& cohort,
                   const config::RunConfig& config,
                   const std::shared_ptr<const loader::SamplePlan>& plan,
                   const std::shared_ptr<const loader::Preprocessing>& preprocessing,
                   ranks::ProcessGroup& process_group) {
  Rehearsed out;
  out.on_gpu = network.on_gpu();
  try_training(network, cohort, config, plan, preprocessing, process_group, out);
  trying("one batch of validation", [&] {
    EvaluateOptions options;
    options.split = config.data.val;
    options.preprocessing = preprocessing;
    const TriedEvaluation tried = try_evaluation(network, cohort, config, options, process_group);
    out.tiles_s = tried.network_s;
    out.final_batches = out.validation_batches = tried.batches;
    if (config.eval.subset > 0) {
      const auto some =
          loader::make_tile_plan(*validation_cohort(cohort, config), config, config.data.val);
      const auto batch = static_cast<std::uint64_t>(config.tiles.batch);
      out.validation_batches = (some->samples_per_epoch() + batch - 1) / batch;
    }
  });
  return out;
}

}  // namespace headrace::train
