#pragma once
#include <atomic>
#include <memory>

namespace headrace {

/// A wish to end work early, which any thread may state: ThreadPools that were made below a
/// CancelScope ask for it before each index, so that the work ends as `cancelled` as soon as the
/// pieces at hand are done. What is stored stays as after an interruption.
class CancelRequest {
 public:
  /// Safe from any thread and from signal handlers.
  void ask() noexcept { asked_ = true; }
  bool asked() const noexcept { return asked_; }

 private:
  std::atomic<bool> asked_{false};
};

/// While it lives, the ThreadPools that its thread makes obey the request. Scopes of a thread nest;
/// the inner one counts.
class CancelScope {
 public:
  explicit CancelScope(std::shared_ptr<const CancelRequest> request);
  ~CancelScope();
  CancelScope(const CancelScope&) = delete;
  CancelScope& operator=(const CancelScope&) = delete;

  /// That of the calling thread; null where there is none.
  static std::shared_ptr<const CancelRequest> current();

 private:
  std::shared_ptr<const CancelRequest> outer_;
};

/// For long work on one thread, between its pieces. Errors: cancelled, where the calling thread's
/// scope was asked to.
void stop_if_cancelled();

}  // namespace headrace
