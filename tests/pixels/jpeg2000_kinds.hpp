#pragma once
#include <openjpeg.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <random>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "headrace/pixels/jpeg/jpeg_shape.hpp"

/// JPEG 2000 codestreams of many kinds, encoded by OpenJPEG.
namespace headrace::pixels::test {

struct Jpeg2000Kind {
  JpegShape shape{256, 256, 3};
  bool lossless = true, mct = false, jp2 = false;
  int chroma_y = 1, chroma_x = 1;  ///< how many times fewer values chroma has
  int precision = 8, resolutions = 6, tile = 0;
  int offset = 0;  ///< of the picture on its grid
  const char* comment = "a name";
};

/// Coloured noise over slopes.
inline std::vector<std::uint8_t> noisy_picture(const JpegShape& shape) {
  std::mt19937 generator(31);
  std::vector<std::uint8_t> out(
      static_cast<std::size_t>(shape.height * shape.width * shape.components));
  for (std::size_t i = 0; i < out.size(); ++i) {
    const auto pixel = static_cast<std::int64_t>(i) / shape.components;
    const std::int64_t slope = pixel % shape.width * 2 + pixel / shape.width +
                               60 * (static_cast<std::int64_t>(i) % shape.components);
    const int noise = pixel / shape.width % 64 < 32 ? 120 : 8;
    out[i] = static_cast<std::uint8_t>(std::clamp<std::int64_t>(
        slope % 256 + static_cast<std::int64_t>(generator() % static_cast<unsigned>(noise)) -
            noise / 2,
        0, 255));
  }
  return out;
}

inline OPJ_SIZE_T append_bytes(void* from, OPJ_SIZE_T count, void* user) {
  auto& [bytes, at] = *static_cast<std::pair<std::vector<std::byte>, std::size_t>*>(user);
  bytes.resize(std::max(bytes.size(), at + count));
  std::memcpy(bytes.data() + at, from, count);
  at += count;
  return count;
}
inline OPJ_BOOL seek_bytes(OPJ_OFF_T to, void* user) {
  static_cast<std::pair<std::vector<std::byte>, std::size_t>*>(user)->second =
      static_cast<std::size_t>(to);
  return OPJ_TRUE;
}
inline OPJ_OFF_T skip_bytes(OPJ_OFF_T count, void* user) {
  static_cast<std::pair<std::vector<std::byte>, std::size_t>*>(user)->second +=
      static_cast<std::size_t>(count);
  return count;
}

/// pixels: interleaved; of subsampled chroma the first of each group is taken.
inline std::vector<std::byte> encode_jpeg2000(const std::vector<std::uint8_t>& pixels,
                                              const Jpeg2000Kind& kind) {
  opj_cparameters_t parameters;
  opj_set_default_encoder_parameters(&parameters);
  parameters.irreversible = kind.lossless ? 0 : 1;
  parameters.tcp_mct = kind.mct ? 1 : 0;
  parameters.tcp_numlayers = 1;
  parameters.cp_disto_alloc = 1;
  parameters.tcp_rates[0] = kind.lossless ? 0 : 12;
  parameters.numresolution = kind.resolutions;
  std::string comment = kind.comment;
  parameters.cp_comment = comment.data();
  if (kind.tile > 0) {
    parameters.tile_size_on = OPJ_TRUE;
    parameters.cp_tdx = parameters.cp_tdy = kind.tile;
  }
  parameters.image_offset_x0 = parameters.image_offset_y0 = kind.offset;
  const auto count = static_cast<OPJ_UINT32>(kind.shape.components);
  const auto offset = static_cast<OPJ_UINT32>(kind.offset);
  std::vector<opj_image_cmptparm_t> components(count);
  for (OPJ_UINT32 c = 0; c < count; ++c) {
    const auto step_x = static_cast<OPJ_UINT32>(c == 0 ? 1 : kind.chroma_x);
    const auto step_y = static_cast<OPJ_UINT32>(c == 0 ? 1 : kind.chroma_y);
    components[c] = {step_x,
                     step_y,
                     (static_cast<OPJ_UINT32>(kind.shape.width) + step_x - 1) / step_x,
                     (static_cast<OPJ_UINT32>(kind.shape.height) + step_y - 1) / step_y,
                     offset,
                     offset,
                     static_cast<OPJ_UINT32>(kind.precision),
                     static_cast<OPJ_UINT32>(kind.precision),
                     0};
  }
  const std::unique_ptr<opj_image_t, void (*)(opj_image_t*)> image(
      opj_image_create(count, components.data(), count == 3 ? OPJ_CLRSPC_SRGB : OPJ_CLRSPC_GRAY),
      opj_image_destroy);
  image->x0 = image->y0 = offset;
  image->x1 = offset + static_cast<OPJ_UINT32>(kind.shape.width);
  image->y1 = offset + static_cast<OPJ_UINT32>(kind.shape.height);
  for (OPJ_UINT32 c = 0; c < count; ++c) {
    const opj_image_cmptparm_t& size = components[c];
    for (OPJ_UINT32 y = 0; y < size.h; ++y) {
      for (OPJ_UINT32 x = 0; x < size.w; ++x) {
        const auto pixel = y * size.dy * kind.shape.width + x * size.dx;
        image->comps[c].data[y * size.w + x] = pixels[static_cast<std::size_t>(pixel) * count + c];
      }
    }
  }
  const std::unique_ptr<opj_codec_t, void (*)(opj_codec_t*)> codec(
      opj_create_compress(kind.jp2 ? OPJ_CODEC_JP2 : OPJ_CODEC_J2K), opj_destroy_codec);
  const std::unique_ptr<opj_stream_t, void (*)(opj_stream_t*)> stream(
      opj_stream_default_create(OPJ_FALSE), opj_stream_destroy);
  std::pair<std::vector<std::byte>, std::size_t> out{{}, 0};
  opj_stream_set_user_data(stream.get(), &out, nullptr);
  opj_stream_set_write_function(stream.get(), append_bytes);
  opj_stream_set_skip_function(stream.get(), skip_bytes);
  opj_stream_set_seek_function(stream.get(), seek_bytes);
  if (!opj_setup_encoder(codec.get(), &parameters, image.get()) ||
      !opj_start_compress(codec.get(), image.get(), stream.get()) ||
      !opj_encode(codec.get(), stream.get()) || !opj_end_compress(codec.get(), stream.get()))
    throw std::runtime_error("OpenJPEG does not encode this");
  return out.first;
}

}  // namespace headrace::pixels::test
