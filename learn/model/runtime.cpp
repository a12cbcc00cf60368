#include "learn/model/runtime.hpp"

#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <ATen/Version.h>
#include <ATen/autocast_mode.h>
#include <c10/core/CachingDeviceAllocator.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <torch/headeronly/version.h>

#include <cstdlib>

#include "headrace/core/error.hpp"
#include "headrace/core/threads.hpp"
#include "headrace/device/cuda_device.hpp"
#include "headrace/device/memory_relief.hpp"

namespace headrace::model {

using device::DeviceChoice;

namespace {

/// LibTorch keeps the memory that its tensors gave back.
void empty_cache() noexcept {
  try {
    c10::getDeviceAllocator(at::kCUDA)->emptyCache();
  } catch (const std::exception&) {
    // It can't now (a graph is being recorded); the caller's error tells what is missing.
  }
}

}  // namespace

Runtime configure_runtime(int threads, device::DeviceChoice device, AutoSwitch amp,
                          bool deterministic) {
  Runtime runtime;
  runtime.threads = threads > 0 ? threads : available_cores();
  at::set_num_threads(runtime.threads);
  at::Context& context = at::globalContext();
  context.setDeterministicAlgorithms(deterministic, /*warn_only=*/false);
  context.setDeterministicCuDNN(deterministic);
  context.setBenchmarkCuDNN(!deterministic);
  // float32 on a GPU is float32: cuDNN would round its factors to TF32's ten bits, unasked. Who
  // wants fewer bits has train.amp.
  context.setAllowTF32CuDNN(false);
  context.setAllowTF32CuBLAS(false);
  // Products of bfloat16 are summed in float32 throughout; LibTorch would round sums of parts.
  context.setAllowBF16ReductionCuBLAS(false);
  // Nothing reads memory before it has been written; deterministic algorithms would fill it.
  context.setDeterministicFillUninitializedMemory(false);

  const bool has_cuda =
      device != DeviceChoice::cpu && at::hasCUDA() && at::detail::getCUDAHooks().deviceCount() > 0;
  if (device == DeviceChoice::cuda && !has_cuda) {
    fail(ErrorCode::unsupported,
         "loader.device: cuda asked for, but LibTorch sees no GPU. Use auto or cpu.");
  }
  if (has_cuda && deterministic && std::getenv("CUBLAS_WORKSPACE_CONFIG") == nullptr) {
    fail(ErrorCode::usage,
         "CUBLAS_WORKSPACE_CONFIG is not set, and cuBLAS is deterministic only with a workspace of "
         "fixed size. Set it to :4096:8 before the process starts.");
  }
  if (has_cuda) {
    // LibTorch's count: it has GPUs in a build without a CUDA of our own too.
    const int index = device::cuda::process_device_of(at::detail::getCUDAHooks().deviceCount());
    if (device::cuda::cuda_available()) {
      device::cuda::use_device(index);  // LibTorch's runtime and ours each remember one
      device::cuda::set_memory_relief(empty_cache);
    }
    runtime.device = at::Device(at::kCUDA, static_cast<c10::DeviceIndex>(index));
    c10::impl::VirtualGuardImpl(at::kCUDA).setDevice(runtime.device);
  }
  if (amp == AutoSwitch::on && !has_cuda) {
    fail(ErrorCode::usage, "train.amp: on needs a GPU, and LibTorch sees none. Use auto or off.");
  }
  runtime.bfloat16 = has_cuda && amp != AutoSwitch::off;
  runtime.torch_version = TORCH_VERSION;
  runtime.cpu_capability = at::get_cpu_capability();
  return runtime;
}

std::map<std::string, std::string> library_versions() {
  std::map<std::string, std::string> out{{"libtorch", TORCH_VERSION}};
  if (at::hasMKL()) out["mkl"] = at::get_mkl_version();
  if (at::hasMKLDNN()) out["onednn"] = at::get_mkldnn_version();
  if (!at::hasCUDA()) return out;
  const at::CUDAHooksInterface& cuda = at::detail::getCUDAHooks();
  out["cuda"] = std::to_string(cuda.versionCUDART());
  if (cuda.hasCuDNN()) out["cudnn"] = std::to_string(cuda.versionRuntimeCuDNN());
  return out;
}

Autocast::Autocast(const Runtime& runtime) : on_(runtime.bfloat16) {
  if (!on_) return;
  at::autocast::set_autocast_enabled(runtime.device.type(), true);
  at::autocast::set_autocast_dtype(runtime.device.type(), at::kBFloat16);
  at::autocast::increment_nesting();
}

Autocast::~Autocast() {
  if (!on_) return;
  if (at::autocast::decrement_nesting() == 0) at::autocast::clear_cache();
  at::autocast::set_autocast_enabled(at::kCUDA, false);
}

}  // namespace headrace::model
