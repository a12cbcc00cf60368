#include "headrace/imaging/dicom/jpeg2000.hpp"

#include <openjpeg.h>

#include <algorithm>
#include <cstring>
#include <memory>

#include "headrace/core/error.hpp"

namespace headrace::imaging {
namespace {

struct Memory {
  std::span<const std::uint8_t> bytes;
  std::size_t at = 0;
};

OPJ_SIZE_T read_memory(void* dst, OPJ_SIZE_T count, void* user) {
  auto& memory = *static_cast<Memory*>(user);
  const std::size_t there = std::min<std::size_t>(count, memory.bytes.size() - memory.at);
  if (there == 0) return static_cast<OPJ_SIZE_T>(-1);
  std::memcpy(dst, memory.bytes.data() + memory.at, there);
  memory.at += there;
  return there;
}

OPJ_OFF_T skip_memory(OPJ_OFF_T count, void* user) {
  auto& memory = *static_cast<Memory*>(user);
  if (count < 0 || static_cast<std::size_t>(count) > memory.bytes.size() - memory.at) return -1;
  memory.at += static_cast<std::size_t>(count);
  return count;
}

OPJ_BOOL seek_memory(OPJ_OFF_T at, void* user) {
  auto& memory = *static_cast<Memory*>(user);
  if (at < 0 || static_cast<std::size_t>(at) > memory.bytes.size()) return OPJ_FALSE;
  memory.at = static_cast<std::size_t>(at);
  return OPJ_TRUE;
}

void keep_message(const char* message, void* user) { *static_cast<std::string*>(user) = message; }
void drop_message(const char*, void*) {}

}  // namespace

Jpeg2000Image decode_jpeg2000(std::span<const std::uint8_t> bytes, std::int64_t height,
                              std::int64_t width, const std::string& origin) {
  Memory memory{bytes};
  std::string reason = "no reason given";
  const bool jp2 = bytes.size() > 12 && std::memcmp(bytes.data() + 4, "jP  ", 4) == 0;
  const std::unique_ptr<opj_codec_t, void (*)(opj_codec_t*)> codec(
      opj_create_decompress(jp2 ? OPJ_CODEC_JP2 : OPJ_CODEC_J2K), opj_destroy_codec);
  const std::unique_ptr<opj_stream_t, void (*)(opj_stream_t*)> stream(
      opj_stream_default_create(OPJ_TRUE), opj_stream_destroy);
  if (!codec || !stream) fail(ErrorCode::memory, "{}: OpenJPEG can't start.", origin);
  opj_set_error_handler(codec.get(), keep_message, &reason);
  opj_set_warning_handler(codec.get(), drop_message, nullptr);
  opj_set_info_handler(codec.get(), drop_message, nullptr);
  opj_stream_set_user_data(stream.get(), &memory, nullptr);
  opj_stream_set_user_data_length(stream.get(), bytes.size());
  opj_stream_set_read_function(stream.get(), read_memory);
  opj_stream_set_skip_function(stream.get(), skip_memory);
  opj_stream_set_seek_function(stream.get(), seek_memory);

  const auto corrupt = [&] {
    while (!reason.empty() && (reason.back() == '\n' || reason.back() == '.')) reason.pop_back();
    fail(ErrorCode::corrupt,
         "{}: the JPEG 2000 picture can't be decoded ({}). The file is truncated or damaged.",
         origin, reason);
  };
  opj_dparameters_t parameters;
  opj_set_default_decoder_parameters(&parameters);
  opj_image_t* raw = nullptr;
  // Strict: a stream that ends early must not pass as a picture.
  if (!opj_setup_decoder(codec.get(), &parameters) ||
      !opj_decoder_set_strict_mode(codec.get(), OPJ_TRUE)) {
    corrupt();
  }
  const bool header = opj_read_header(stream.get(), codec.get(), &raw);
  const std::unique_ptr<opj_image_t, void (*)(opj_image_t*)> image(raw, opj_image_destroy);
  if (!header) corrupt();
  if (image->numcomps != 1 || image->comps[0].prec > 16) {
    fail(ErrorCode::unsupported,
         "{}: JPEG 2000 with {} components, expected one of at most 16 bits.", origin,
         image->numcomps);
  }
  const auto& first = image->comps[0];
  if (first.w != width || first.h != height) {
    fail(ErrorCode::corrupt,
         "{}: the JPEG 2000 picture has {}x{} pixels, expected {}x{} as the header says.", origin,
         first.w, first.h, width, height);
  }
  if (!opj_decode(codec.get(), stream.get(), image.get()) ||
      !opj_end_decompress(codec.get(), stream.get()) || image->comps[0].data == nullptr) {
    corrupt();
  }
  Jpeg2000Image out;
  out.height = height;
  out.width = width;
  out.precision = static_cast<int>(image->comps[0].prec);
  out.is_signed = image->comps[0].sgnd != 0;
  out.pixels.assign(image->comps[0].data, image->comps[0].data + height * width);
  return out;
}

}  // namespace headrace::imaging
