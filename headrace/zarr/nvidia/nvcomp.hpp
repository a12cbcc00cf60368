#pragma once
#include <cstddef>
#include <cstdint>
#include <string>

#include "headrace/device/shared_library.hpp"

struct CUstream_st;

namespace headrace::zarr {

/// nvCOMP 6's batched decompression of zstd and LZ4, by libnvcomp.so.6 where there is one
/// (HEADRACE_NVCOMP may name the file). Prototypes are restated from nvcomp/zstd.h, lz4.h and
/// shared_types.h of 6.0.0.12, which no build needs; tests/zarr/nvidia_headers_test.cpp holds them
/// to those headers where they are. Pointer tables lie in device memory; 0 is success.
struct Nvcomp {
  enum class Backend : int { automatic, hardware, cuda };
  struct ZstdOptions {
    Backend backend = Backend::cuda;
    char reserved[60] = {};
  };
  struct Lz4Options {
    Backend backend = Backend::cuda;
    int sort_before_hardware = 0, data_type = 0, bitshuffle_mode = 0;
    char reserved[48] = {};
  };
  struct Alignments {
    std::size_t input = 0, output = 0, temp = 0;
  };
  struct Properties {
    std::uint32_t version = 0, cudart_version = 0;
  };
  template <typename Options>
  struct Codec {
    int (*alignments)(Options, Alignments*) = nullptr;
    /// chunks, largest decoded chunk, options, result, decoded bytes in all, stream
    int (*temp_size)(std::size_t, std::size_t, Options, std::size_t*, std::size_t,
                     CUstream_st*) = nullptr;
    /// packed, their sizes, room for each, decoded sizes, chunks, temp, its size, decoded, options,
    /// statuses, stream
    int (*decompress)(const void* const*, const std::size_t*, const std::size_t*, std::size_t*,
                      std::size_t, void*, std::size_t, void* const*, Options, int*,
                      CUstream_st*) = nullptr;
  };

  device::SharedLibrary library;
  Codec<ZstdOptions> zstd;
  Codec<Lz4Options> lz4;
  const char* (*status_text)(int) = nullptr;
  int (*properties)(Properties*) = nullptr;

  Nvcomp();
  /// Loaded once a process.
  static const Nvcomp& shared();
  /// "nvCOMP 6.0.0", where it is there.
  std::string name() const;
  const char* text_of(int status) const;
};

}  // namespace headrace::zarr
