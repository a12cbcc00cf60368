// A libnvjpeg.so.13 that decodes on the host, by libjpeg: the functions that nvidia/nvjpeg.hpp
// looks for, with nvJPEG's arguments. It has a JPEG engine only where HEADRACE_TEST_JPEG_ENGINES is
// set; where it is "picky" they take no JPEG at all. No batch with a damaged JPEG in it is taken.
#include <cstdio>
// jpeglib.h needs the one above
#include <jpeglib.h>

#include <csetjmp>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include "headrace/zarr/nvidia/nvjpeg.hpp"
#include "tests/device/host_stream.hpp"

using headrace::zarr::Nvjpeg;

namespace headrace::zarr {
struct nvjpegHandle {
  Nvjpeg::Backend backend = Nvjpeg::Backend::standard;
  int batch = 0;
};
struct nvjpegJpegState {
  Nvjpeg::Output batch_output = Nvjpeg::Output::grey;
};
}  // namespace headrace::zarr

namespace {

constexpr int kBadJpeg = 3, kNotSupported = 4, kArchMismatch = 7, kInvalid = 2;

bool refuses(headrace::zarr::Nvjpeg::Handle handle) {
  const char* engines = std::getenv("HEADRACE_TEST_JPEG_ENGINES");
  return handle->backend == Nvjpeg::Backend::hardware && engines != nullptr &&
         std::strcmp(engines, "picky") == 0;
}

struct Handler {
  jpeg_error_mgr base;
  std::jmp_buf jump;
};

void jump_out(j_common_ptr info) { std::longjmp(reinterpret_cast<Handler*>(info->err)->jump, 1); }

int decode_one(const unsigned char* data, std::size_t size, Nvjpeg::Output output,
               std::size_t pitch, std::vector<unsigned char>& pixels) {
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
  pixels.resize(info.output_height * pitch);
  while (info.output_scanline < info.output_height) {
    JSAMPROW row = pixels.data() + info.output_scanline * pitch;
    jpeg_read_scanlines(&info, &row, 1);
  }
  jpeg_destroy_decompress(&info);
  return 0;
}

// Damage is found at once, as by nvJPEG's part on the host; pixels are there when the stream comes
// to it.
int put_one(const unsigned char* data, std::size_t size, Nvjpeg::Output output,
            const Nvjpeg::Image& image, CUstream_st* stream) {
  const auto pixels = std::make_shared<std::vector<unsigned char>>();
  const int status = decode_one(data, size, output, image.pitch[0], *pixels);
  if (status != 0) return status;
  stream->put([pixels, to = image.channel[0]] { std::memcpy(to, pixels->data(), pixels->size()); });
  return 0;
}

}  // namespace

extern "C" {

int nvjpegCreateEx(Nvjpeg::Backend backend, void*, void*, unsigned int, Nvjpeg::Handle* out) {
  const bool engines = std::getenv("HEADRACE_TEST_JPEG_ENGINES") != nullptr;
  if (backend == Nvjpeg::Backend::hardware && !engines) return kArchMismatch;
  *out = new headrace::zarr::nvjpegHandle{backend};
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
int nvjpegDecodeBatchedInitialize(Nvjpeg::Handle handle, Nvjpeg::State state, int batch, int,
                                  Nvjpeg::Output output) {
  handle->batch = batch;
  state->batch_output = output;
  return batch > 0 ? 0 : kInvalid;
}
int nvjpegDecodeBatched(Nvjpeg::Handle handle, Nvjpeg::State state,
                        const unsigned char* const* data, const std::size_t* sizes,
                        Nvjpeg::Image* images, CUstream_st* stream) {
  if (refuses(handle)) return kNotSupported;
  for (int i = 0; i < handle->batch; ++i) {
    const int status = put_one(data[i], sizes[i], state->batch_output, images[i], stream);
    if (status != 0) return status;
  }
  return 0;
}
int nvjpegDecode(Nvjpeg::Handle handle, Nvjpeg::State, const unsigned char* data, std::size_t size,
                 Nvjpeg::Output output, Nvjpeg::Image* image, CUstream_st* stream) {
  if (refuses(handle)) return kNotSupported;
  return put_one(data, size, output, *image, stream);
}
int nvjpegGetHardwareDecoderInfo(Nvjpeg::Handle, unsigned int* engines, unsigned int* cores) {
  *engines = *cores = 0;
  return 0;
}
}
