// The prototypes that nvidia/nvcomp.hpp, nvidia/nvjpeg.hpp and storage/cufile.hpp restate, held to
// NVIDIA's own headers when this file is compiled: built only where those are (HR_NVIDIA_WHEELS).
#include <cufile.h>
#include <gtest/gtest.h>
#include <nvcomp.h>
#include <nvcomp/lz4.h>
#include <nvcomp/zstd.h>
#include <nvjpeg.h>

#include <type_traits>

#include "headrace/storage/cufile.hpp"
#include "headrace/zarr/nvidia/nvcomp.hpp"
#include "headrace/zarr/nvidia/nvjpeg.hpp"

namespace headrace::zarr {
namespace {

// Whether a value of A is passed as one of B is: of the same kind, size and alignment.
template <typename A, typename B>
constexpr bool passes_like() {
  if constexpr (std::is_pointer_v<A> || std::is_pointer_v<B>) {
    return std::is_pointer_v<A> && std::is_pointer_v<B>;
  } else if constexpr (std::is_void_v<A> || std::is_void_v<B>) {
    return std::is_same_v<A, B>;
  } else {
    constexpr bool number = std::is_integral_v<A> || std::is_enum_v<A>;
    return number == (std::is_integral_v<B> || std::is_enum_v<B>)&&sizeof(A) == sizeof(B) &&
           alignof(A) == alignof(B);
  }
}

template <typename Ours, typename Theirs>
struct Same;
template <typename R, typename... A, typename S, typename... B>
struct Same<R (*)(A...), S (*)(B...)> {
  static constexpr bool value = [] {
    if constexpr (sizeof...(A) != sizeof...(B)) {
      return false;
    } else {
      return passes_like<R, S>() && (passes_like<A, B>() && ...);
    }
  }();
};
#define HR_SAME(member, function) \
  static_assert(Same<decltype(member), decltype(&function)>::value, #function)

static_assert(!Same<int (*)(int, char*), int (*)(long, char*)>::value);
static_assert(!Same<int (*)(int), int (*)(int, int)>::value);

HR_SAME(Nvcomp::zstd.alignments, nvcompBatchedZstdDecompressGetRequiredAlignments);
HR_SAME(Nvcomp::zstd.temp_size, nvcompBatchedZstdDecompressGetTempSize);
HR_SAME(Nvcomp::zstd.decompress, nvcompBatchedZstdDecompressAsync);
HR_SAME(Nvcomp::lz4.alignments, nvcompBatchedLZ4DecompressGetRequiredAlignments);
HR_SAME(Nvcomp::lz4.temp_size, nvcompBatchedLZ4DecompressGetTempSize);
HR_SAME(Nvcomp::lz4.decompress, nvcompBatchedLZ4DecompressAsync);
HR_SAME(Nvcomp::status_text, nvcompGetStatusString);
HR_SAME(Nvcomp::properties, nvcompGetProperties);
HR_SAME(Nvjpeg::create, nvjpegCreateExV2);
HR_SAME(Nvjpeg::destroy, nvjpegDestroy);
HR_SAME(Nvjpeg::state_create, nvjpegJpegStateCreate);
HR_SAME(Nvjpeg::state_destroy, nvjpegJpegStateDestroy);
HR_SAME(Nvjpeg::stream_create, nvjpegJpegStreamCreate);
HR_SAME(Nvjpeg::stream_destroy, nvjpegJpegStreamDestroy);
HR_SAME(Nvjpeg::parse_header, nvjpegJpegStreamParseHeader);
HR_SAME(Nvjpeg::batch_takes, nvjpegDecodeBatchedSupported);
HR_SAME(Nvjpeg::batch_begin, nvjpegDecodeBatchedInitialize);
HR_SAME(Nvjpeg::batch_decode, nvjpegDecodeBatched);
HR_SAME(Nvjpeg::hardware, nvjpegGetHardwareDecoderInfo);

HR_SAME(storage::Cufile::open, cuFileDriverOpen);
HR_SAME(storage::Cufile::handle_register, cuFileHandleRegister);
HR_SAME(storage::Cufile::handle_deregister, cuFileHandleDeregister);
HR_SAME(storage::Cufile::read, cuFileRead);
HR_SAME(storage::Cufile::write, cuFileWrite);

static_assert(sizeof(storage::Cufile::Description) == sizeof(CUfileDescr_t));
static_assert(offsetof(storage::Cufile::Description, handle) == offsetof(CUfileDescr_t, handle));
static_assert(offsetof(storage::Cufile::Description, operations) ==
              offsetof(CUfileDescr_t, fs_ops));
static_assert(CU_FILE_HANDLE_TYPE_OPAQUE_FD == 1 && CU_FILE_SUCCESS == 0);
static_assert(offsetof(Nvcomp::Alignments, output) ==
              offsetof(nvcompAlignmentRequirements_t, output));
static_assert(offsetof(Nvcomp::Alignments, temp) == offsetof(nvcompAlignmentRequirements_t, temp));
static_assert(offsetof(Nvcomp::Lz4Options, data_type) ==
              offsetof(nvcompBatchedLZ4DecompressOpts_t, data_type));
static_assert(offsetof(Nvcomp::Lz4Options, bitshuffle_mode) ==
              offsetof(nvcompBatchedLZ4DecompressOpts_t, bitshuffle_mode));
static_assert(static_cast<int>(Nvcomp::Backend::cuda) == NVCOMP_DECOMPRESS_BACKEND_CUDA);
static_assert(static_cast<int>(Nvcomp::Backend::hardware) == NVCOMP_DECOMPRESS_BACKEND_HARDWARE);
static_assert(NVCOMP_TYPE_CHAR == 0 && NVCOMP_BITSHUFFLE_NONE == 0 && nvcompSuccess == 0);
static_assert(sizeof(Nvjpeg::Image) == sizeof(nvjpegImage_t));
static_assert(offsetof(Nvjpeg::Image, pitch) == offsetof(nvjpegImage_t, pitch));
static_assert(Same<decltype(Nvjpeg::Allocator::take), tDevMallocV2>::value);
static_assert(Same<decltype(Nvjpeg::Allocator::take), tPinnedMallocV2>::value);
static_assert(Same<decltype(Nvjpeg::Allocator::give_back), tDevFreeV2>::value);
static_assert(Same<decltype(Nvjpeg::Allocator::give_back), tPinnedFreeV2>::value);
static_assert(sizeof(Nvjpeg::Allocator) == sizeof(nvjpegDevAllocatorV2_t));
static_assert(sizeof(Nvjpeg::Allocator) == sizeof(nvjpegPinnedAllocatorV2_t));
static_assert(offsetof(Nvjpeg::Allocator, take) == offsetof(nvjpegDevAllocatorV2_t, dev_malloc));
static_assert(offsetof(Nvjpeg::Allocator, take) ==
              offsetof(nvjpegPinnedAllocatorV2_t, pinned_malloc));
static_assert(offsetof(Nvjpeg::Allocator, give_back) == offsetof(nvjpegDevAllocatorV2_t, dev_free));
static_assert(offsetof(Nvjpeg::Allocator, context) == offsetof(nvjpegDevAllocatorV2_t, dev_ctx));
static_assert(Nvjpeg::kBadJpeg == NVJPEG_STATUS_BAD_JPEG &&
              Nvjpeg::kNotSupported == NVJPEG_STATUS_JPEG_NOT_SUPPORTED &&
              Nvjpeg::kAllocatorFailed == NVJPEG_STATUS_ALLOCATOR_FAILURE);
static_assert(static_cast<int>(Nvjpeg::Backend::hardware) == NVJPEG_BACKEND_HARDWARE);
static_assert(static_cast<int>(Nvjpeg::Backend::gpu_hybrid) == NVJPEG_BACKEND_GPU_HYBRID);
static_assert(static_cast<int>(Nvjpeg::Output::rgb_interleaved) == NVJPEG_OUTPUT_RGBI);
static_assert(static_cast<int>(Nvjpeg::Output::grey) == NVJPEG_OUTPUT_Y);

TEST(NvidiaHeaders, AreWhatIsRestated) { SUCCEED() << "shown when this file was compiled"; }

}  // namespace
}  // namespace headrace::zarr
