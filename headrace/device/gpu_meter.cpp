#include "headrace/device/gpu_meter.hpp"
#include "headrace/device/shared_library.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

namespace headrace::device {
namespace {

// Prototypes of nvml.h (CUDA 13), restated: toolkits do not always have the header. 0 is success.
using NvmlDevice = struct NvmlDeviceHandle*;
struct NvmlUtilization {
  unsigned int gpu, memory;  ///< percent
};
struct NvmlMemory {
  unsigned long long total, free, used;  // NOLINT(google-runtime-int): as NVML has it
};

struct Nvml {
  int (*init)() = nullptr;
  int (*shutdown)() = nullptr;
  const char* (*error_string)(int) = nullptr;
  int (*by_bus_id)(const char*, NvmlDevice*) = nullptr;
  int (*by_index)(unsigned int, NvmlDevice*) = nullptr;
  int (*name)(NvmlDevice, char*, unsigned int) = nullptr;
  int (*utilization)(NvmlDevice, NvmlUtilization*) = nullptr;
  int (*memory)(NvmlDevice, NvmlMemory*) = nullptr;
};

}  // namespace

struct GpuMeter::State {
  static constexpr std::chrono::milliseconds kInterval{250};

  SharedLibrary library;
  Nvml nvml;
  bool started = false;
  NvmlDevice device = nullptr;
  mutable std::mutex mutex;
  std::condition_variable stop_asked;
  bool stop = false;
  GpuUsage usage;  ///< busy percents are sums
  std::thread thread;

  explicit State(const std::string& file) : library(nullptr, file.c_str()) {
    library.find("nvmlInit_v2", nvml.init);
    library.find("nvmlShutdown", nvml.shutdown);
    library.find("nvmlErrorString", nvml.error_string);
    library.find("nvmlDeviceGetHandleByPciBusId_v2", nvml.by_bus_id);
    library.find("nvmlDeviceGetHandleByIndex_v2", nvml.by_index);
    library.find("nvmlDeviceGetName", nvml.name);
    library.find("nvmlDeviceGetUtilizationRates", nvml.utilization);
    library.find("nvmlDeviceGetMemoryInfo", nvml.memory);
  }

  /// Why there is nothing to measure; empty when there is.
  std::string open(const std::string& pci_bus_id) {
    if (!library.there()) return fmt::format("NVML: {}", library.missing());
    if (const int error = nvml.init(); error != 0) return told("nvmlInit", error);
    started = true;
    const int error = pci_bus_id.empty() ? nvml.by_index(0, &device)
                                         : nvml.by_bus_id(pci_bus_id.c_str(), &device);
    if (error != 0) return told("finding the GPU", error);
    std::array<char, 96> text{};
    if (nvml.name(device, text.data(), text.size()) == 0) usage.device = text.data();
    if (usage.device.empty()) usage.device = "GPU";
    return sample();
  }
  std::string told(const char* what, int error) const {
    const char* text = nvml.error_string(error);
    return fmt::format("NVML, {}: {}", what, text == nullptr ? "error" : text);
  }
  std::string sample() {
    NvmlUtilization busy{};
    NvmlMemory memory{};
    if (const int error = nvml.utilization(device, &busy); error != 0) {
      return told("utilization", error);
    }
    const bool has_memory = nvml.memory(device, &memory) == 0;
    const std::lock_guard lock(mutex);
    ++usage.samples;
    usage.busy_percent += busy.gpu;
    usage.memory_busy_percent += busy.memory;
    if (has_memory)
      usage.memory_used_bytes = std::max<std::uint64_t>(usage.memory_used_bytes, memory.used);
    return {};
  }
  void watch() {
    std::unique_lock lock(mutex);
    while (!stop_asked.wait_for(lock, kInterval, [this] { return stop; })) {
      lock.unlock();
      sample();  // a sample that fails is left out
      lock.lock();
    }
  }
};

GpuMeter::GpuMeter(const std::string& pci_bus_id, const std::string& library)
    : state_(std::make_unique<State>(library.empty() ? "libnvidia-ml.so.1" : library)) {
  state_->usage.not_measured = state_->open(pci_bus_id);
  if (!state_->usage.not_measured.empty()) {
    state_->usage.device.clear();
    return;
  }
  state_->thread = std::thread([state = state_.get()] { state->watch(); });
}

GpuMeter::~GpuMeter() {
  if (state_->thread.joinable()) {
    {
      const std::lock_guard lock(state_->mutex);
      state_->stop = true;
    }
    state_->stop_asked.notify_all();
    state_->thread.join();
  }
  if (state_->started) state_->nvml.shutdown();
}

GpuUsage GpuMeter::usage() const {
  const std::lock_guard lock(state_->mutex);
  GpuUsage mean = state_->usage;
  if (mean.samples > 0) {
    mean.busy_percent /= static_cast<double>(mean.samples);
    mean.memory_busy_percent /= static_cast<double>(mean.samples);
  }
  return mean;
}

}  // namespace headrace::device
