#pragma once

namespace headrace::device::cuda {

/// The calling thread's GPU; 0 without one.
int current_device() noexcept;
/// Whether this process uses the GPU: it has a context there.
bool has_context(int device) noexcept;

/// Makes a GPU the calling thread's until its end: for threads that lend their work to others, and
/// for what may be destroyed on any thread. The GPU that was the thread's before is so again then,
/// unless this process does not use it (a thread that never chose one has number 0): going back
/// would take some hundred MiB there for a context.
class DeviceScope {
 public:
  /// Errors: device, if there are fewer GPUs.
  explicit DeviceScope(int device);
  ~DeviceScope();
  DeviceScope(const DeviceScope&) = delete;
  DeviceScope& operator=(const DeviceScope&) = delete;

 private:
  int before_;  ///< -1: nothing to restore
};

}  // namespace headrace::device::cuda
