#include "headrace/train/rehearsal.hpp"

#include <unistd.h>

#include <algorithm>
#include <fstream>

#include "headrace/core/error.hpp"
#include "headrace/device/cuda_device.hpp"
#include "headrace/train/evaluate.hpp"
#include "headrace/train/feeding.hpp"
#include "headrace/train/training_times.hpp"

namespace headrace::train {
namespace {

/// A line of /proc/self/status in bytes; 0 where there is none.
double status_bytes(const std::string& key) {
  std::ifstream file("/proc/self/status");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with(key + ":")) return std::stod(line.substr(key.size() + 1)) * 1024;
  }
  return 0;
}

/// Memory of the machine, or what the control group leaves of it.
double present_bytes() {
  double present =
      static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
  for (const char* file :
       {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"}) {
    double limit = 0;
    if (std::ifstream(file) >> limit && limit > 0) present = std::min(present, limit);
  }
  return present;
}

/// Bytes in use where the model is: of this process, or of the GPU.
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

/// How much one sample adds, times those that are in memory together. What LibTorch has taken it
/// keeps (model/runtime.cpp), so what is in use afterwards is what was needed.
MemoryNeed estimate(Network& network, const loader::Batch& batch, std::int64_t together) {
  const bool on_gpu = network.on_gpu();
  const double before = used_bytes(on_gpu);
  network.rehearse(first_of(batch, 1), 1);
  const double after = used_bytes(on_gpu);
  MemoryNeed need;
  const double one = std::max(0.0, after - before);
  if (on_gpu) {
    need.needed_bytes = one * static_cast<double>(together);
    need.present_bytes = static_cast<double>(device::cuda::free_bytes()) + one;
  } else {
    need.needed_bytes = before + one * static_cast<double>(together);
    need.present_bytes = present_bytes();
  }
  return need;
}

}  // namespace

void check_memory(const MemoryNeed& need, bool on_gpu, std::int64_t together) {
  if (need.needed_bytes <= need.present_bytes) return;
  constexpr double kGiB = 1 << 30;
  fail(ErrorCode::memory,
       "A step needs about {:.1f} GiB {} (measured on one sample, times {}), but there are {:.1f}. "
       "Lower sampling.batch, patch.size or model.widths, or raise train.gradient_parts.",
       need.needed_bytes / kGiB, on_gpu ? "of the GPU" : "of this machine", together,
       need.present_bytes / kGiB);
}

Rehearsed rehearse(Network& network, const std::shared_ptr<const source::Cohort>& cohort,
                   const loader::RunConfig& config,
                   const std::shared_ptr<const loader::SamplePlan>& plan,
                   const std::shared_ptr<const loader::Preprocessing>& preprocessing,
                   ranks::Team& team) {
  Rehearsed out;
  out.on_gpu = network.on_gpu();
  const loader::RunConfig fed = fed_config(config, network, ranks::share_of_cores(team));
  const std::int64_t together = config.sampling.batch / config.train.gradient_parts;
  with_context("one batch of training was tried", [&] {
    loader::Loader loader(cohort, fed, plan, preprocessing,
                          {.with_labels = true, .count = 1, .share = own_share(config, team)});
    const auto batch = loader.next();
    out.memory = estimate(network, *batch, together);
    // One batch of the ring is there already.
    if (batch->device < 0) {
      out.memory.needed_bytes += static_cast<double>(config.loader.prefetch - 1) *
                                 static_cast<double>(batch->images_bytes() + batch->labels_bytes());
    }
    // The processes of one machine share its memory.
    if (!out.on_gpu) out.memory.needed_bytes *= team.size();
    check_memory(out.memory, out.on_gpu, together * (out.on_gpu ? 1 : team.size()));
    const Clock::time_point start = Clock::now();
    network.rehearse(*batch, batch->samples / together);
    out.step_s = seconds_since(start);
  });
  with_context("one batch of validation was tried", [&] {
    const auto tiles = loader::make_tile_plan(*cohort, config, config.data.val);
    loader::Loader loader(cohort, on_the_host(config, nullptr), tiles, preprocessing,
                          {.with_labels = true, .count = 1});
    out.validation_batches = loader.batches_per_epoch();
    const auto batch = loader.next();
    const Clock::time_point start = Clock::now();
    network.predict(*batch);
    out.tiles_s = seconds_since(start);
  });
  return out;
}

}  // namespace headrace::train
