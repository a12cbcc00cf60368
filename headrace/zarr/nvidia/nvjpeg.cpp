#include "headrace/zarr/nvidia/nvjpeg.hpp"

namespace headrace::zarr {

Nvjpeg::Nvjpeg() : library("HEADRACE_NVJPEG", "libnvjpeg.so.13") {
  library.find("nvjpegCreateExV2", create);
  library.find("nvjpegDestroy", destroy);
  library.find("nvjpegJpegStateCreate", state_create);
  library.find("nvjpegJpegStateDestroy", state_destroy);
  library.find("nvjpegJpegStreamCreate", stream_create);
  library.find("nvjpegJpegStreamDestroy", stream_destroy);
  library.find("nvjpegJpegStreamParseHeader", parse_header);
  library.find("nvjpegDecodeBatchedSupported", batch_takes);
  library.find("nvjpegDecodeBatchedInitialize", batch_begin);
  library.find("nvjpegDecodeBatched", batch_decode);
  library.find("nvjpegGetHardwareDecoderInfo", hardware);
}

const Nvjpeg& Nvjpeg::shared() {
  static const Nvjpeg nvjpeg;
  return nvjpeg;
}

const char* Nvjpeg::text_of(int status) noexcept {
  static constexpr const char* kTexts[] = {"success",
                                           "not initialized",
                                           "invalid parameter",
                                           "bad JPEG",
                                           "unsupported JPEG",
                                           "allocator failure",
                                           "execution failed",
                                           "architecture mismatch",
                                           "internal error",
                                           "implementation not supported",
                                           "incomplete bitstream"};
  constexpr int kCount = sizeof kTexts / sizeof *kTexts;
  return status >= 0 && status < kCount ? kTexts[status] : "unknown status";
}

}  // namespace headrace::zarr
