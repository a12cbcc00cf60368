#pragma once
#include <functional>

/// CUDA's own name for what lies behind a stream: in tests on the host, a queue. A replacement of a
/// library or a kernel puts its work there; the work is done when something waits for it.
struct CUstream_st {
  virtual ~CUstream_st() = default;
  virtual void put(std::function<void()> work) = 0;
};
