#pragma once
#include <unistd.h>

#include <atomic>
#include <memory>

namespace headrace {

/// The T in `place`, made by `make()` (a unique_ptr<T>) where there is none yet, or only that of
/// the process from which this one was forked: threads of the parent, which do not exist here, may
/// have held its locks or been about to change it, and that stays so. The parent's is left alone,
/// never destroyed. T tells by `process` where it was made. Safe from any thread.
template <typename T, typename Make>
T& of_this_process(std::atomic<T*>& place, const Make& make) {
  const pid_t here = ::getpid();
  T* found = place.load(std::memory_order_acquire);
  if (found != nullptr && found->process == here) return *found;
  std::unique_ptr<T> own = make();
  if (place.compare_exchange_strong(found, own.get())) return *own.release();
  return *found;  // another thread of this process was faster
}

}  // namespace headrace
