#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "headrace/device/cuda_device.hpp"
#include "headrace/device/memory_budget.hpp"
#include "headrace/pixels/jpeg/jpeg_markers.hpp"
#include "headrace/zarr/nvidia/nvjpeg.hpp"
#include "headrace/zarr/nvidia/nvjpeg_memory.hpp"

namespace headrace::zarr {

/// One back end of nvJPEG with its working memory: for one batch at a time, of one thread at a time.
class JpegBackend {
 public:
  JpegBackend(const Nvjpeg& nvjpeg, device::cuda::MemoryBudget budget)
      : nvjpeg_(nvjpeg), budget_(budget), memory_(std::move(budget)) {}
  /// The work that uses it must be done.
  ~JpegBackend();
  JpegBackend(const JpegBackend&) = delete;
  JpegBackend& operator=(const JpegBackend&) = delete;

  /// Before anything else. Returns nvJPEG's status: 0, or why this GPU has no such back end.
  /// Errors: memory.
  int open(Nvjpeg::Backend backend);

  /// Whether it gives JPEGs of such colours the CPU's pixels, but for a few levels: found out by one
  /// of its own, at the first question. Waits for the GPU then. why: as for `takes`. Errors: memory,
  /// device.
  bool shows(pixels::JpegColour colour, std::string& why);
  /// Whether a batch may hold this JPEG; why: where not, in a few words.
  bool takes(std::span<const std::byte> jpeg, std::string& why);

  struct Batch {
    std::vector<const unsigned char*> data;
    std::vector<std::size_t> sizes;
    std::vector<Nvjpeg::Image> images;

    void add(std::span<const std::byte> jpeg, std::byte* to, std::size_t row_bytes);
  };
  /// Puts the decoding into the stream. The JPEGs must stay until it is done. Returns nvJPEG's
  /// status, of which 0 only says that it has begun. Errors: memory.
  int decode(Batch& batch, Nvjpeg::Output output, device::cuda::Stream& stream);

 private:
  enum class Known { no_question, yes, no };
  struct Colour {
    Known shown = Known::no_question;
    std::string why;
  };
  int ask(std::span<const std::byte> jpeg, bool& taken);
  std::string try_out(pixels::JpegColour colour);

  const Nvjpeg& nvjpeg_;
  device::cuda::MemoryBudget budget_;
  NvjpegMemory memory_;
  Nvjpeg::Handle handle_ = nullptr;
  Nvjpeg::State state_ = nullptr;
  Nvjpeg::JpegStream header_ = nullptr;
  bool answers_ = false;  ///< it takes a plain JPEG, so that its no to another one means something
  Colour colours_[3];     ///< grey, ycbcr, rgb
};

}  // namespace headrace::zarr
