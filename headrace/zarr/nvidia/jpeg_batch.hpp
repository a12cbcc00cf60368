#pragma once
#include <memory>
#include <span>
#include <string>

#include "headrace/device/cuda_device.hpp"
#include "headrace/zarr/decode_plan.hpp"
#include "headrace/zarr/nvidia/nvjpeg.hpp"

namespace headrace::zarr {

/// JPEGs decoded by nvJPEG, many at once: by the GPU's JPEG engines where it has some, else by its
/// kernels. One batch at a time.
class JpegBatch {
 public:
  /// HEADRACE_NVJPEG_BACKEND: "hardware", "gpu" or "standard" uses this back end alone, for
  /// measurements. Errors: unsupported (the library), device (none of its back ends).
  JpegBatch();
  JpegBatch(const JpegBatch&) = delete;
  JpegBatch& operator=(const JpegBatch&) = delete;

  /// Puts the decoding of `segments`, all JPEGs, into the stream. encoded: host memory that stays
  /// as it is until the stream is done; decoded: device memory. Returns the segment that nvJPEG
  /// cannot decode, with its text, or null. Waits for the stream only between grey and coloured
  /// JPEGs, and where nvJPEG refuses a batch: then each JPEG is decoded alone, by the kernels,
  /// which take what the engines do not (progressive JPEGs, 4:1:1 and 4:1:0).
  const DecodePlan::Segment* start(std::span<const DecodePlan::Segment> segments,
                                   const std::byte* encoded, std::byte* decoded,
                                   device::cuda::Stream& stream, std::string& problem);
  /// "nvJPEG (hardware)", with how many engines.
  const std::string& name() const noexcept { return name_; }

 private:
  /// A back end of nvJPEG with its working memory: for one batch, or image, at a time.
  struct Decoder {
    explicit Decoder(const Nvjpeg& library) : nvjpeg(library) {}
    ~Decoder();
    Decoder(const Decoder&) = delete;
    Decoder& operator=(const Decoder&) = delete;
    int open(Nvjpeg::Backend backend);  ///< nvJPEG's status

    const Nvjpeg& nvjpeg;
    Nvjpeg::Handle handle = nullptr;
    Nvjpeg::State state = nullptr;
  };

  Decoder& of_single_images();
  const DecodePlan::Segment* start_group(std::span<const DecodePlan::Segment* const> group,
                                         bool grey, const std::byte* encoded, std::byte* decoded,
                                         device::cuda::Stream& stream, std::string& problem);

  const Nvjpeg& nvjpeg_;
  std::unique_ptr<Decoder> batches_, singles_;
  bool forced_;  ///< one back end alone
  std::string name_;
};

}  // namespace headrace::zarr
