#pragma once
#include <ATen/core/Tensor.h>

#include <map>
#include <string>

#include "headrace/core/auto_switch.hpp"
#include "headrace/device/device_choice.hpp"

namespace headrace::model {

/// How LibTorch computes in this process.
struct Runtime {
  int threads = 1;  ///< intra-op; decides the order of sums, so part of a result's identity
  at::Device device = at::kCPU;
  bool bfloat16 = false;  ///< automatic mixed precision
  std::string torch_version, cpu_capability;
};

/// Fixes the number of threads and chooses the device: of several GPUs the one of LOCAL_RANK.
///
/// A deterministic run on a GPU needs CUBLAS_WORKSPACE_CONFIG=:4096:8 in the environment, which
/// cuBLAS reads when its first handle is made; the program sets it, the library does not.
///
/// in      threads  0: every core
///         amp      mixed precision; automatic: on with CUDA
///         deterministic  the same bytes from run to run; false: whichever algorithm is the fastest
/// errors  unsupported (cuda without a GPU), usage (amp on without a GPU; a deterministic run
///         on a GPU without CUBLAS_WORKSPACE_CONFIG)
Runtime configure_runtime(int threads, device::DeviceChoice device, AutoSwitch amp,
                          bool deterministic = true);

/// Versions of what computes: libtorch, onednn and mkl; in a build with CUDA also cuda and cudnn, as
/// numbers of their makers (12080 is 12.8, 91002 is 9.10.2). None is left out silently but those that
/// LibTorch does not have.
std::map<std::string, std::string> library_versions();

/// Mixed precision during its lifetime, where `runtime` has it.
class Autocast {
 public:
  explicit Autocast(const Runtime& runtime);
  ~Autocast();
  Autocast(const Autocast&) = delete;
  Autocast& operator=(const Autocast&) = delete;

 private:
  bool on_;
};

}  // namespace headrace::model
