#pragma once
#include <cstdint>
#include <memory>
#include <string>

namespace headrace::device {

/// How busy a GPU was while a GpuMeter watched it.
struct GpuUsage {
  std::string device;        ///< its name; empty when nothing was measured
  std::string not_measured;  ///< why, in one sentence; empty when it was
  std::uint64_t samples = 0;
  /// Mean over the samples: part of NVML's own window (1/6 s to 1 s) in which a kernel ran, and in
  /// which device memory was read or written, in percent.
  double busy_percent = 0, memory_busy_percent = 0;
  std::uint64_t memory_used_bytes = 0;  ///< the most that any sample saw, of all processes
};

/// Asks NVML, four times a second on a thread of its own, how busy a GPU is. The driver's library
/// is loaded at run time: without it nothing is measured, and usage() says why.
///
/// NVML's figure means only that a kernel ran: it stays high for a GPU that waits for data between
/// small kernels. The stall fraction is the figure to trust; this one goes beside it.
/// source  NVIDIA Management Library API reference, nvmlDeviceGetUtilizationRates
/// threads usage() from any thread
class GpuMeter {
 public:
  /// pci_bus_id: as cudaDeviceGetPCIBusId gives it, since NVML and CUDA number devices differently;
  /// empty: the first one. library: a file to load instead of the driver's libnvidia-ml.so.1.
  explicit GpuMeter(const std::string& pci_bus_id = {}, const std::string& library = {});
  ~GpuMeter();

  GpuUsage usage() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace headrace::device
