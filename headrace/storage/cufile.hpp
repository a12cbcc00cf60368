#pragma once
#include <sys/types.h>

#include <cstddef>
#include <string>

#include "headrace/device/shared_library.hpp"

namespace headrace::storage {

/// cuFile, by libcufile.so.0 where there is one (HEADRACE_CUFILE may name the file; written for
/// version 1.15.1.6). Prototypes are restated from cufile.h, which no build needs. cuFileDriverOpen
/// of 1.20 never returns on a machine without a driver, so nothing of cuFile is called before the
/// driver's own cuInit has succeeded.
struct Cufile {
  struct Result {
    int error = 0, cuda_error = 0;
  };
  struct Description {
    int type = 1;  ///< a Linux file descriptor
    union {
      int fd;
      void* pointer = nullptr;
    } handle;
    const void* operations = nullptr;
  };
  using Handle = void*;

  device::SharedLibrary driver, library;
  int (*init)(unsigned int) = nullptr;
  Result (*open)() = nullptr;
  Result (*handle_register)(Handle*, Description*) = nullptr;
  void (*handle_deregister)(Handle) = nullptr;
  /// handle, device memory, size, offset in the file, offset in the memory
  ssize_t (*read)(Handle, void*, std::size_t, off_t, off_t) = nullptr;
  ssize_t (*write)(Handle, const void*, std::size_t, off_t, off_t) = nullptr;

  /// driver_file: the CUDA driver's library.
  explicit Cufile(const char* driver_file = "libcuda.so.1");
  /// Started once a process.
  static const Cufile& shared();
  /// Empty when it has started, else why not.
  const std::string& missing() const noexcept { return missing_; }

 private:
  std::string missing_;
};

/// A file that cuFile may read and write, while it lives.
class CufileRegistration {
 public:
  CufileRegistration(const Cufile& cufile, int fd);
  ~CufileRegistration();
  CufileRegistration(const CufileRegistration&) = delete;
  CufileRegistration& operator=(const CufileRegistration&) = delete;

  /// Empty when cuFile takes it, else its error.
  const std::string& problem() const noexcept { return problem_; }
  Cufile::Handle handle() const noexcept { return handle_; }

 private:
  const Cufile& cufile_;
  Cufile::Handle handle_ = nullptr;
  std::string problem_;
};

}  // namespace headrace::storage
