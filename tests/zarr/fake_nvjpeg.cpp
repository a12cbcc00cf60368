// A libnvjpeg.so.13 that decodes on the host, by libjpeg: the functions that nvidia/nvjpeg.hpp
// looks for, with nvJPEG's arguments.
//   HEADRACE_TEST_JPEG_ENGINES  unset: no JPEG engine; "1": one, which takes no progressive JPEG;
//                               "none": it starts without any; "picky": it takes no JPEG at all;
//                               "liar": it takes only what "1" does, and says that it takes all
//   HEADRACE_TEST_JPEG_BLIND    set: damage is not noticed, as in a GPU's part of the work
//   HEADRACE_TEST_JPEG_ANSWERS  "none": it has no answer to what a batch may hold
//   HEADRACE_TEST_JPEG_COLOURS  "ycbcr": every JPEG of three components is taken for YCbCr; unset:
//                               only an Adobe marker of transform 0 makes one RGB
// No batch with a damaged JPEG in it is taken. JPEGs are read again when the stream comes to them,
// and a state must not be used before that: what is overwritten too early shows.
#include <cstdio>
// jpeglib.h needs the one above
#include <jpeglib.h>

#include <algorithm>
#include <atomic>
#include <csetjmp>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "headrace/zarr/nvidia/nvjpeg.hpp"
#include "tests/device/host_stream.hpp"

using headrace::zarr::Nvjpeg;

namespace headrace::zarr {
struct nvjpegHandle {
  Nvjpeg::Backend backend;
  Nvjpeg::Allocator device, pinned;
};
struct nvjpegJpegState {
  Nvjpeg::Handle handle;
  Nvjpeg::Output output = Nvjpeg::Output::grey;
  int batch = 0;
  void *scratch = nullptr, *staging = nullptr;
  std::size_t scratch_bytes = 0;
  std::shared_ptr<int> in_flight = std::make_shared<int>(0);
};
struct nvjpegJpegStream {
  bool progressive = false;
};
}  // namespace headrace::zarr

extern "C" {
std::atomic<int> fake_nvjpeg_batches{0}, fake_nvjpeg_jpegs{0}, fake_nvjpeg_states{0};
}

namespace {

constexpr int kInvalid = 2, kArchMismatch = 7, kInternal = 8, kNotImplemented = 9;
constexpr std::size_t kScratchOfOne = 64 << 10, kStaging = 4096;

bool is_set(const char* variable, std::string_view value) {
  const char* set = std::getenv(variable);
  return set != nullptr && value == set;
}
bool engines_are(std::string_view value) { return is_set("HEADRACE_TEST_JPEG_ENGINES", value); }

bool takes(Nvjpeg::Handle handle, bool progressive) {
  if (handle->backend != Nvjpeg::Backend::hardware) return true;
  return !engines_are("picky") && !progressive;
}

struct Handler {
  jpeg_error_mgr base;
  std::jmp_buf jump;
};

void jump_out(j_common_ptr info) { std::longjmp(reinterpret_cast<Handler*>(info->err)->jump, 1); }

// pitch: 0 reads the header alone.
int decode_one(const unsigned char* data, std::size_t size, Nvjpeg::Output output,
               std::size_t pitch, std::vector<unsigned char>& pixels, bool& progressive) {
  jpeg_decompress_struct info{};
  Handler handler{};
  info.err = jpeg_std_error(&handler.base);
  handler.base.error_exit = jump_out;
  handler.base.emit_message = [](j_common_ptr common, int level) {
    if (level < 0 && std::getenv("HEADRACE_TEST_JPEG_BLIND") == nullptr) jump_out(common);
  };
  if (setjmp(handler.jump) != 0) {
    jpeg_destroy_decompress(&info);
    return Nvjpeg::kBadJpeg;
  }
  jpeg_create_decompress(&info);
  jpeg_mem_src(&info, data, size);
  jpeg_read_header(&info, TRUE);
  progressive = info.progressive_mode != 0;
  if (pitch > 0) {
    if (info.num_components == 3) {
      const bool rgb = info.saw_Adobe_marker && info.Adobe_transform == 0 &&
                       !is_set("HEADRACE_TEST_JPEG_COLOURS", "ycbcr");
      info.jpeg_color_space = rgb ? JCS_RGB : JCS_YCbCr;
    }
    info.out_color_space = output == Nvjpeg::Output::grey ? JCS_GRAYSCALE : JCS_RGB;
    jpeg_start_decompress(&info);
    pixels.resize(info.output_height * pitch);
    while (info.output_scanline < info.output_height) {
      JSAMPROW row = pixels.data() + info.output_scanline * pitch;
      jpeg_read_scanlines(&info, &row, 1);
    }
  }
  jpeg_destroy_decompress(&info);
  return 0;
}

// Damage is found at once, as by nvJPEG's part on the host; pixels are there when the stream comes
// to it.
int put_one(Nvjpeg::State state, const unsigned char* data, std::size_t size,
            const Nvjpeg::Image& image, CUstream_st* stream) {
  std::vector<unsigned char> unused;
  bool progressive = false;
  const Nvjpeg::Output output = state->output;
  const int status = decode_one(data, size, output, image.pitch[0], unused, progressive);
  if (status != 0) return status;
  if (!takes(state->handle, progressive)) return Nvjpeg::kNotSupported;
  stream->put([=, to = image.channel[0], pitch = image.pitch[0]] {
    std::vector<unsigned char> pixels;
    bool unused_too = false;
    if (decode_one(data, size, output, pitch, pixels, unused_too) == 0) {
      std::copy(pixels.begin(), pixels.end(), to);
    }
  });
  return 0;
}

int give_back(const Nvjpeg::Allocator& allocator, void*& memory, std::size_t bytes) {
  if (memory == nullptr) return 0;
  return allocator.give_back(allocator.context, std::exchange(memory, nullptr), bytes, nullptr);
}

}  // namespace

extern "C" {

int nvjpegCreateExV2(Nvjpeg::Backend backend, Nvjpeg::Allocator* device, Nvjpeg::Allocator* pinned,
                     unsigned int, Nvjpeg::Handle* out) {
  const bool engines = std::getenv("HEADRACE_TEST_JPEG_ENGINES") != nullptr;
  if (backend == Nvjpeg::Backend::hardware && !engines) return kArchMismatch;
  if (device == nullptr || pinned == nullptr) return kInvalid;
  *out = new headrace::zarr::nvjpegHandle{backend, *device, *pinned};
  return 0;
}
int nvjpegDestroy(Nvjpeg::Handle handle) {
  delete handle;
  return 0;
}
int nvjpegJpegStateCreate(Nvjpeg::Handle handle, Nvjpeg::State* out) {
  auto state = std::make_unique<headrace::zarr::nvjpegJpegState>();
  state->handle = handle;
  if (handle->pinned.take(handle->pinned.context, &state->staging, kStaging, nullptr) != 0) {
    return Nvjpeg::kAllocatorFailed;
  }
  ++fake_nvjpeg_states;
  *out = state.release();
  return 0;
}
int nvjpegJpegStateDestroy(Nvjpeg::State state) {
  const int status = *state->in_flight != 0 ? kInternal : 0;
  give_back(state->handle->device, state->scratch, state->scratch_bytes);
  give_back(state->handle->pinned, state->staging, kStaging);
  delete state;
  --fake_nvjpeg_states;
  return status;
}
int nvjpegJpegStreamCreate(Nvjpeg::Handle, Nvjpeg::JpegStream* out) {
  *out = new headrace::zarr::nvjpegJpegStream;
  return 0;
}
int nvjpegJpegStreamDestroy(Nvjpeg::JpegStream stream) {
  delete stream;
  return 0;
}
int nvjpegJpegStreamParseHeader(Nvjpeg::Handle, const unsigned char* data, std::size_t size,
                                Nvjpeg::JpegStream stream) {
  std::vector<unsigned char> unused;
  return decode_one(data, size, Nvjpeg::Output::grey, 0, unused, stream->progressive);
}
int nvjpegDecodeBatchedSupported(Nvjpeg::Handle handle, Nvjpeg::JpegStream stream, int* answer) {
  if (is_set("HEADRACE_TEST_JPEG_ANSWERS", "none")) return kNotImplemented;
  *answer = engines_are("liar") || takes(handle, stream->progressive) ? 0 : 1;
  return 0;
}
int nvjpegDecodeBatchedInitialize(Nvjpeg::Handle handle, Nvjpeg::State state, int batch, int,
                                  Nvjpeg::Output output) {
  if (*state->in_flight != 0 || batch <= 0) return kInternal;
  state->batch = batch;
  state->output = output;
  const std::size_t bytes = static_cast<std::size_t>(batch) * kScratchOfOne;
  if (bytes <= state->scratch_bytes) return 0;
  if (give_back(handle->device, state->scratch, state->scratch_bytes) != 0) return kInternal;
  state->scratch_bytes = 0;
  if (handle->device.take(handle->device.context, &state->scratch, bytes, nullptr) != 0) {
    return Nvjpeg::kAllocatorFailed;
  }
  state->scratch_bytes = bytes;
  return 0;
}
int nvjpegDecodeBatched(Nvjpeg::Handle, Nvjpeg::State state, const unsigned char* const* data,
                        const std::size_t* sizes, Nvjpeg::Image* images, CUstream_st* stream) {
  if (*state->in_flight != 0) return kInternal;
  for (int i = 0; i < state->batch; ++i) {
    const int status = put_one(state, data[i], sizes[i], images[i], stream);
    if (status != 0) return status;
  }
  *state->in_flight = 1;
  stream->put([in_flight = state->in_flight] { *in_flight = 0; });
  ++fake_nvjpeg_batches;
  fake_nvjpeg_jpegs += state->batch;
  return 0;
}
int nvjpegGetHardwareDecoderInfo(Nvjpeg::Handle handle, unsigned int* engines,
                                 unsigned int* cores) {
  const bool none = handle->backend != Nvjpeg::Backend::hardware || engines_are("none");
  *engines = *cores = none ? 0 : 1;
  return 0;
}
}
