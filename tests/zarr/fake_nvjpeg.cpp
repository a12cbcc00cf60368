// A libnvjpeg.so.13 that decodes on the host, by libjpeg: the functions that nvidia/nvjpeg.hpp
// looks for, with nvJPEG's arguments. It has a JPEG engine only where HEADRACE_TEST_JPEG_ENGINES is
// set, and takes no batch with a damaged JPEG in it.
#include <cstdio>
// jpeglib.h needs the one above
#include <jpeglib.h>

#include <csetjmp>
#include <cstdlib>

#include "headrace/zarr/nvidia/nvjpeg.hpp"

using headrace::zarr::Nvjpeg;

namespace headrace::zarr {
struct nvjpegHandle {
  int batch = 0;
};
struct nvjpegJpegState {};
}  // namespace headrace::zarr

namespace {

constexpr int kBadJpeg = 3, kArchMismatch = 7, kInvalid = 2;

struct Handler {
  jpeg_error_mgr base;
  std::jmp_buf jump;
};

void jump_out(j_common_ptr info) { std::longjmp(reinterpret_cast<Handler*>(info->err)->jump, 1); }

int decode_one(const unsigned char* data, std::size_t size, Nvjpeg::Output output,
               const Nvjpeg::Image& image) {
  jpeg_decompress_struct info{};
  Handler handler{};
  info.err = jpeg_std_error(&handler.base);
  handler.base.error_exit = jump_out;
  handler.base.emit_message = [](j_common_ptr common, int level) {
    if (level < 0) jump_out(common);
  };
  if (setjmp(handler.jump) != 0) {
    jpeg_destroy_decompress(&info);
    return kBadJpeg;
  }
  jpeg_create_decompress(&info);
  jpeg_mem_src(&info, data, size);
  jpeg_read_header(&info, TRUE);
  info.out_color_space = output == Nvjpeg::Output::grey ? JCS_GRAYSCALE : JCS_RGB;
  jpeg_start_decompress(&info);
  while (info.output_scanline < info.output_height) {
    JSAMPROW row = image.channel[0] + info.output_scanline * image.pitch[0];
    jpeg_read_scanlines(&info, &row, 1);
  }
  jpeg_destroy_decompress(&info);
  return 0;
}

}  // namespace

extern "C" {

int nvjpegCreateEx(Nvjpeg::Backend backend, void*, void*, unsigned int, Nvjpeg::Handle* out) {
  const bool engines = std::getenv("HEADRACE_TEST_JPEG_ENGINES") != nullptr;
  if (backend == Nvjpeg::Backend::hardware && !engines) return kArchMismatch;
  *out = new headrace::zarr::nvjpegHandle;
  return 0;
}
int nvjpegDestroy(Nvjpeg::Handle handle) {
  delete handle;
  return 0;
}
int nvjpegJpegStateCreate(Nvjpeg::Handle, Nvjpeg::State* out) {
  *out = new headrace::zarr::nvjpegJpegState;
  return 0;
}
int nvjpegJpegStateDestroy(Nvjpeg::State state) {
  delete state;
  return 0;
}
static Nvjpeg::Output batch_output;
int nvjpegDecodeBatchedInitialize(Nvjpeg::Handle handle, Nvjpeg::State, int batch, int,
                                  Nvjpeg::Output output) {
  handle->batch = batch;
  batch_output = output;
  return batch > 0 ? 0 : kInvalid;
}
int nvjpegDecodeBatched(Nvjpeg::Handle handle, Nvjpeg::State, const unsigned char* const* data,
                        const std::size_t* sizes, Nvjpeg::Image* images, CUstream_st*) {
  for (int i = 0; i < handle->batch; ++i) {
    if (const int status = decode_one(data[i], sizes[i], batch_output, images[i]); status != 0) {
      return status;
    }
  }
  return 0;
}
int nvjpegDecode(Nvjpeg::Handle, Nvjpeg::State, const unsigned char* data, std::size_t size,
                 Nvjpeg::Output output, Nvjpeg::Image* image, CUstream_st*) {
  return decode_one(data, size, output, *image);
}
int nvjpegGetHardwareDecoderInfo(Nvjpeg::Handle, unsigned int* engines, unsigned int* cores) {
  *engines = *cores = 0;
  return 0;
}
}
