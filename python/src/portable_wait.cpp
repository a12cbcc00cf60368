/// The one function that libstdc++ 12 names by a version that libstdc++ 11 lacks (GLIBCXX_3.4.30, since it may no longer be noexcept).
/// With it here, a wheel loads on distributions of GCC 11 (RHEL 9 and its kin); the body is libstdc++'s own.
#include <condition_variable>
#include <mutex>

void std::condition_variable::wait(std::unique_lock<std::mutex>& lock) {
  _M_cond.wait(*lock.mutex());
}
