#pragma once
#include <cstddef>

#include "headrace/device/shared_library.hpp"

struct CUstream_st;

namespace headrace::zarr {

/// nvJPEG's batched decoder, by libnvjpeg.so.13 where there is one (HEADRACE_NVJPEG may name the
/// file). Prototypes are restated from nvjpeg.h of CUDA 13.0, as Nvcomp's are. 0 is success.
/// A state is for one thread and one batch at a time. Statuses are of a whole call: none of them
/// names a JPEG, and none comes after the GPU's part of the work.
struct Nvjpeg {
  enum class Backend : int { standard = 0, gpu_hybrid = 2, hardware = 3 };
  enum class Output : int { grey = 2, rgb_interleaved = 5 };
  struct Image {
    unsigned char* channel[4] = {};
    std::size_t pitch[4] = {};
  };
  /// For device memory, and for pinned memory. 0 is success; memory that is given back may still be
  /// in use by earlier work of the stream.
  struct Allocator {
    int (*take)(void* context, void** out, std::size_t bytes, CUstream_st*) = nullptr;
    int (*give_back)(void* context, void* memory, std::size_t bytes, CUstream_st*) = nullptr;
    void* context = nullptr;
  };
  static constexpr int kBadJpeg = 3, kNotSupported = 4, kAllocatorFailed = 5;

  using Handle = struct nvjpegHandle*;
  using State = struct nvjpegJpegState*;
  using JpegStream = struct nvjpegJpegStream*;

  device::SharedLibrary library;
  /// backend, allocators of device and of pinned memory, flags (0), handle
  int (*create)(Backend, Allocator*, Allocator*, unsigned int, Handle*) = nullptr;
  int (*destroy)(Handle) = nullptr;
  int (*state_create)(Handle, State*) = nullptr;
  int (*state_destroy)(State) = nullptr;
  int (*stream_create)(Handle, JpegStream*) = nullptr;
  int (*stream_destroy)(JpegStream) = nullptr;
  /// handle, JPEG in host memory, its size, where its header goes
  int (*parse_header)(Handle, const unsigned char*, std::size_t, JpegStream) = nullptr;
  /// handle, a header, 0 where a batch may hold the JPEG
  int (*batch_takes)(Handle, JpegStream, int*) = nullptr;
  /// handle, state, batch, CPU threads, output
  int (*batch_begin)(Handle, State, int, int, Output) = nullptr;
  /// handle, state, JPEGs in host memory, their sizes, images in device memory, stream
  int (*batch_decode)(Handle, State, const unsigned char* const*, const std::size_t*, Image*,
                      CUstream_st*) = nullptr;
  /// handle, engines, cores of each
  int (*hardware)(Handle, unsigned int*, unsigned int*) = nullptr;

  Nvjpeg();
  static const Nvjpeg& shared();
  static const char* text_of(int status) noexcept;
};

}  // namespace headrace::zarr
