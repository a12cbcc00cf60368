#pragma once
#include <cstddef>

#include "headrace/device/shared_library.hpp"

struct CUstream_st;

namespace headrace::zarr {

/// nvJPEG's batched decoder, by libnvjpeg.so.13 where there is one (HEADRACE_NVJPEG may name the
/// file). Prototypes are restated from nvjpeg.h of CUDA 13.0, as Nvcomp's are. 0 is success.
struct Nvjpeg {
  enum class Backend : int { standard = 0, gpu_hybrid = 2, hardware = 3 };
  enum class Output : int { grey = 2, rgb_interleaved = 5 };
  struct Image {
    unsigned char* channel[4] = {};
    std::size_t pitch[4] = {};
  };
  using Handle = struct nvjpegHandle*;
  using State = struct nvjpegJpegState*;

  device::SharedLibrary library;
  /// backend, two allocators (null: CUDA's own), flags (0), handle
  int (*create)(Backend, void*, void*, unsigned int, Handle*) = nullptr;
  int (*destroy)(Handle) = nullptr;
  int (*state_create)(Handle, State*) = nullptr;
  int (*state_destroy)(State) = nullptr;
  /// handle, state, batch, CPU threads, output
  int (*batch_begin)(Handle, State, int, int, Output) = nullptr;
  /// handle, state, JPEGs in host memory, their sizes, images in device memory, stream
  int (*batch_decode)(Handle, State, const unsigned char* const*, const std::size_t*, Image*,
                      CUstream_st*) = nullptr;
  int (*decode)(Handle, State, const unsigned char*, std::size_t, Output, Image*,
                CUstream_st*) = nullptr;
  /// handle, engines, cores of each
  int (*hardware)(Handle, unsigned int*, unsigned int*) = nullptr;

  Nvjpeg();
  static const Nvjpeg& shared();
  static const char* text_of(int status) noexcept;
};

}  // namespace headrace::zarr
