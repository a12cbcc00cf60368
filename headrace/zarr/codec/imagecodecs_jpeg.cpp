#include "headrace/zarr/codec/imagecodecs_jpeg.hpp"

#include <nlohmann/json.hpp>

#include "headrace/core/error.hpp"
#include "headrace/pixels/jpeg/jpeg_decoder.hpp"
#include "headrace/pixels/jpeg/jpeg_encoder.hpp"
#include "headrace/zarr/codec/scratch.hpp"

namespace headrace::zarr {
namespace {

constexpr int kDefaultQuality = 95;       // imagecodecs' own
constexpr std::int64_t kMaxEdge = 65500;  // jpeglib.h's JPEG_MAX_DIMENSION

// Which axes of the chunk are rows, columns and components.
struct ImageAxes {
  int y = 0, x = 1, c = -1;  // c: -1 where the chunk has no axis for it
};

class JpegCodec : public ArrayBytesCodec {
 public:
  JpegCodec(const ChunkSpec& spec, const ImageAxes& axes, int quality,
            pixels::JpegSubsampling subsampling)
      : rank_(spec.rank), axes_(axes), quality_(quality), subsampling_(subsampling) {
    shape_ = {spec.shape[axes.y], spec.shape[axes.x],
              axes.c < 0 ? 1 : static_cast<int>(spec.shape[axes.c])};
    strides_ = contiguous_strides(rank_, spec.shape, 1);
  }

  void decode(std::span<const std::byte> encoded, const Box& box, const View& dst) const override {
    const pixels::JpegWindow window{box.origin[axes_.y], box.origin[axes_.y] + box.shape[axes_.y],
                                    box.origin[axes_.x], box.origin[axes_.x] + box.shape[axes_.x]};
    const bool interleaved =
        dst.strides_bytes[axes_.x] == shape_.components &&
        (axes_.c < 0 || (box.shape[axes_.c] == shape_.components &&
                         (dst.strides_bytes[axes_.c] == 1 || shape_.components == 1)));
    if (interleaved) {
      pixels::decode_jpeg_window(encoded, kJpegOrigin, shape_, window, dst.data,
                                 dst.strides_bytes[axes_.y]);
      return;
    }
    const std::int64_t row = (window.x1 - window.x0) * shape_.components;
    Scratch rows(static_cast<std::size_t>((window.y1 - window.y0) * row));
    pixels::decode_jpeg_window(encoded, kJpegOrigin, shape_, window, rows.data(), row);
    Index strides{};
    strides[axes_.y] = row;
    strides[axes_.x] = shape_.components;
    if (axes_.c >= 0) strides[axes_.c] = 1;
    const std::byte* first = rows.data() + (axes_.c < 0 ? 0 : box.origin[axes_.c]);
    copy_elements(rank_, box.shape, first, strides, dst.data, dst.strides_bytes, 1);
  }

  bool splits() const override { return true; }
  StreamCodec packing() const override { return StreamCodec::jpeg; }

  void split(std::span<const std::byte> encoded, ByteRange, ChunkStreams& out) const override {
    pixels::check_jpeg(encoded, kJpegOrigin, shape_);
    out.size = static_cast<std::size_t>(shape_.height * shape_.width * shape_.components);
    out.streams.push_back({StreamCodec::jpeg, encoded, 0, out.size});
    out.jpeg_height = static_cast<std::int32_t>(shape_.height);
    out.jpeg_width = static_cast<std::int32_t>(shape_.width);
  }

  void encode(const View& src, std::vector<std::byte>& out) const override {
    const bool interleaved =
        src.strides_bytes[axes_.x] == shape_.components &&
        (axes_.c < 0 || shape_.components == 1 || src.strides_bytes[axes_.c] == 1);
    if (interleaved) {
      write(src.data, src.strides_bytes[axes_.y], out);
      return;
    }
    Scratch rows(static_cast<std::size_t>(shape_.height * strides_[axes_.y]));
    Index shape{};
    for (int axis = 0; axis < rank_; ++axis) shape[axis] = 1;
    shape[axes_.y] = shape_.height;
    shape[axes_.x] = shape_.width;
    if (axes_.c >= 0) shape[axes_.c] = shape_.components;
    copy_elements(rank_, shape, src.data, src.strides_bytes, rows.data(), strides_, 1);
    write(rows.data(), strides_[axes_.y], out);
  }

 private:
  void write(const std::byte* src, std::int64_t row_step, std::vector<std::byte>& out) const {
    pixels::encode_jpeg(src, row_step, shape_, quality_, subsampling_, kJpegOrigin, out);
  }

  int rank_;
  ImageAxes axes_;
  pixels::JpegShape shape_;
  Index strides_{};
  int quality_;
  pixels::JpegSubsampling subsampling_;
};

ImageAxes find_axes(const ChunkSpec& spec, const std::string& origin) {
  const std::int64_t last = spec.rank > 0 ? spec.shape[spec.rank - 1] : 0;
  ImageAxes axes;
  axes.c = spec.rank >= 3 && (last == 3 || last == 1) ? spec.rank - 1 : -1;
  axes.x = axes.c < 0 ? spec.rank - 1 : spec.rank - 2;
  axes.y = axes.x - 1;
  bool fits = spec.dtype == DType::uint8 && axes.y >= 0;
  for (int axis = 0; fits && axis < axes.y; ++axis) fits = spec.shape[axis] == 1;
  fits = fits && spec.shape[axes.y] <= kMaxEdge && spec.shape[axes.x] <= kMaxEdge;
  if (!fits) {
    fail(
        ErrorCode::unsupported,
        "{}: codec 'imagecodecs_jpeg': a chunk of {} {} elements is not an image; expected uint8 (y, "
        "x, "
        "3), (y, x, 1) or (y, x) with edges up to {} (a (c, y, x) array needs transpose [1, 2, 0] "
        "before)",
        origin, fmt::join(spec.shape.begin(), spec.shape.begin() + spec.rank, "x"),
        name_of(spec.dtype), kMaxEdge);
  }
  return axes;
}

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
  return std::make_unique<JpegCodec>(spec, find_axes(spec, config.origin()), quality,
                                     static_cast<pixels::JpegSubsampling>(subsampling));
}

}  // namespace headrace::zarr
