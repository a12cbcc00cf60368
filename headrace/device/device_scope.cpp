#include "headrace/device/device_scope.hpp"

#include "headrace/core/error.hpp"
#include "headrace/device/cuda_device.hpp"

namespace headrace::device::cuda {

// Also where it is the thread's already: a thread that has not called CUDA yet has the number, but
// no context of the GPU, without which libraries over the driver refuse to work.
DeviceScope::DeviceScope(int device) : before_(current_device()) {
  if (before_ == device || !has_context(before_)) before_ = -1;
  use_device(device);
}

DeviceScope::~DeviceScope() {
  if (before_ < 0) return;
  try {
    use_device(before_);
  } catch (const Error&) {
    // It was there before: the device is lost, and the next work says so.
  }
}

}  // namespace headrace::device::cuda
