// A libnvcomp.so.6 that decompresses on the host, by libzstd and liblz4: the functions that
// nvidia/nvcomp.hpp looks for, with nvCOMP's arguments. The work is put into the stream, and done
// when that comes to it.
#include <lz4.h>
#include <zstd.h>

#include <cstdlib>
#include <cstring>

#include "headrace/zarr/nvidia/nvcomp.hpp"
#include "tests/device/host_stream.hpp"

using headrace::zarr::Nvcomp;

namespace {

constexpr int kCannotDecompress = 12;
std::size_t scratch_of(std::size_t total) { return 3 * total + 8; }

// HEADRACE_TEST_NVCOMP_FAILS: a decoder that is broken.
bool broken() { return std::getenv("HEADRACE_TEST_NVCOMP_FAILS") != nullptr; }

// The scratch is written to, so that one that is too small is seen.
void use_scratch(void* scratch, std::size_t size) { std::memset(scratch, 0x5a, size); }

}  // namespace

extern "C" {

int nvcompBatchedZstdDecompressGetRequiredAlignments(Nvcomp::ZstdOptions, Nvcomp::Alignments* out) {
  *out = {1, 1, 8};
  return 0;
}
int nvcompBatchedLZ4DecompressGetRequiredAlignments(Nvcomp::Lz4Options, Nvcomp::Alignments* out) {
  *out = {1, 1, 1};
  return 0;
}
int nvcompBatchedZstdDecompressGetTempSize(std::size_t, std::size_t, Nvcomp::ZstdOptions options,
                                           std::size_t* out, std::size_t total, CUstream_st*) {
  *out = scratch_of(total);
  return options.backend == Nvcomp::Backend::cuda ? 0 : 11;
}
int nvcompBatchedLZ4DecompressGetTempSize(std::size_t, std::size_t, Nvcomp::Lz4Options,
                                          std::size_t* out, std::size_t, CUstream_st*) {
  *out = 0;
  return 0;
}
int nvcompBatchedZstdDecompressAsync(const void* const* packed, const std::size_t* sizes,
                                     const std::size_t* room, std::size_t* came_out,
                                     std::size_t count, void* scratch, std::size_t scratch_size,
                                     void* const* out, Nvcomp::ZstdOptions, int* status,
                                     CUstream_st* stream) {
  stream->put([=] {
    use_scratch(scratch, scratch_size);
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t got = ZSTD_decompress(out[i], room[i], packed[i], sizes[i]);
      status[i] = ZSTD_isError(got) != 0 || broken() ? kCannotDecompress : 0;
      came_out[i] = status[i] != 0 ? 0 : got;
    }
  });
  return 0;
}
int nvcompBatchedLZ4DecompressAsync(const void* const* packed, const std::size_t* sizes,
                                    const std::size_t* room, std::size_t* came_out,
                                    std::size_t count, void*, std::size_t, void* const* out,
                                    Nvcomp::Lz4Options, int* status, CUstream_st* stream) {
  stream->put([=] {
    for (std::size_t i = 0; i < count; ++i) {
      const int got =
          LZ4_decompress_safe(static_cast<const char*>(packed[i]), static_cast<char*>(out[i]),
                              static_cast<int>(sizes[i]), static_cast<int>(room[i]));
      status[i] = got < 0 ? kCannotDecompress : 0;
      came_out[i] = got < 0 ? 0 : static_cast<std::size_t>(got);
    }
  });
  return 0;
}
const char* nvcompGetStatusString(int status) {
  return status == kCannotDecompress ? "cannot decompress" : "error";
}
int nvcompGetProperties(Nvcomp::Properties* out) {
  *out = {6000, 13000};
  return 0;
}
}
