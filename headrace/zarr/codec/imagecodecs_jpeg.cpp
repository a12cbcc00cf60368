#include "headrace/zarr/codec/imagecodecs_jpeg.hpp"

#include <nlohmann/json.hpp>

#include "headrace/core/error.hpp"
#include "headrace/pixels/jpeg/jpeg_decoder.hpp"
#include "headrace/pixels/jpeg/jpeg_encoder.hpp"
#include "headrace/zarr/codec/image_axes.hpp"
#include "headrace/zarr/codec/scratch.hpp"

namespace headrace::zarr {
namespace {

constexpr int kDefaultQuality = 95;       // imagecodecs' own
constexpr std::int64_t kMaxEdge = 65500;  // jpeglib.h's JPEG_MAX_DIMENSION

class JpegCodec : public ArrayBytesCodec {
 public:
  JpegCodec(const ImageAxes& axes, int quality, pixels::JpegSubsampling subsampling)
      : axes_(axes), quality_(quality), subsampling_(subsampling) {}

  void decode(std::span<const std::byte> encoded, const Box& box, const View& dst) const override {
    axes_.decode(
        box, dst, [&](const pixels::JpegWindow& window, std::byte* to, std::ptrdiff_t row_step) {
          pixels::decode_jpeg_window(encoded, kJpegOrigin, axes_.shape, window, to, row_step);
        });
  }

  bool splits() const override { return true; }
  StreamCodec packing() const override { return StreamCodec::jpeg; }

  void split(std::span<const std::byte> encoded, ByteRange, ChunkStreams& out) const override {
    const pixels::JpegShape& shape = axes_.shape;
    pixels::check_jpeg(encoded, kJpegOrigin, shape);
    out.size = static_cast<std::size_t>(shape.height * shape.width * shape.components);
    out.streams.push_back({StreamCodec::jpeg, encoded, 0, out.size});
    out.jpeg_height = static_cast<std::int32_t>(shape.height);
    out.jpeg_width = static_cast<std::int32_t>(shape.width);
  }

  void encode(const View& src, std::vector<std::byte>& out) const override {
    Box whole{axes_.rank, {}, {}};
    for (int axis = 0; axis < axes_.rank; ++axis) whole.shape[axis] = 1;
    whole.shape[axes_.y] = axes_.shape.height;
    whole.shape[axes_.x] = axes_.shape.width;
    if (axes_.c >= 0) whole.shape[axes_.c] = axes_.shape.components;
    if (axes_.interleaved(whole, src)) {
      write(src.data, src.strides_bytes[axes_.y], out);
      return;
    }
    const Index strides = contiguous_strides(axes_.rank, whole.shape, 1);
    Scratch rows(static_cast<std::size_t>(axes_.shape.height * strides[axes_.y]));
    copy_elements(axes_.rank, whole.shape, src.data, src.strides_bytes, rows.data(), strides, 1);
    write(rows.data(), strides[axes_.y], out);
  }

 private:
  void write(const std::byte* src, std::int64_t row_step, std::vector<std::byte>& out) const {
    pixels::encode_jpeg(src, row_step, axes_.shape, quality_, subsampling_, kJpegOrigin, out);
  }

  ImageAxes axes_;
  int quality_;
  pixels::JpegSubsampling subsampling_;
};

}  // namespace

std::unique_ptr<ArrayBytesCodec> make_imagecodecs_jpeg(CodecConfig& config, const ChunkSpec& spec) {
  static constexpr std::string_view kSubsampling[] = {"444", "422", "420"};
  const auto quality = static_cast<int>(config.integer_or("level", kDefaultQuality, 0, 100));
  std::size_t subsampling = 2;
  if (config.has("subsampling")) {
    subsampling = config.choice("subsampling", kSubsampling);
  } else {
    config.require_null("subsampling");
  }
  for (const char* key : {"bitspersample", "tables", "header", "colorspace_data", "colorspace_jpeg",
                          "optimize", "smoothing", "lossless", "predictor", "squeeze"}) {
    config.require_null(key);
  }
  config.finish();
  return std::make_unique<JpegCodec>(
      ImageAxes::of(spec, "imagecodecs_jpeg", kMaxEdge, config.origin()), quality,
      static_cast<pixels::JpegSubsampling>(subsampling));
}

}  // namespace headrace::zarr
