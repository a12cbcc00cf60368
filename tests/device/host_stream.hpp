#pragma once
#include <functional>

/// CUDA's own name for what lies behind a stream: in tests on the host, a queue. What stands in for
/// a library or a kernel puts its work there, to be done when somebody waits for it.
struct CUstream_st {
  virtual ~CUstream_st() = default;
  virtual void put(std::function<void()> work) = 0;
};
