#include "headrace/zarr/codec/imagecodecs_jpeg2k.hpp"

#include <nlohmann/json.hpp>

#include "headrace/core/error.hpp"
#include "headrace/pixels/jpeg2000/jpeg2000_decoder.hpp"
#include "headrace/zarr/codec/image_axes.hpp"

namespace headrace::zarr {
namespace {

constexpr const char* kName = "imagecodecs_jpeg2k";
constexpr const char* kOrigin = "codec imagecodecs_jpeg2k";
constexpr std::int64_t kMaxEdge = 65500;  // as of JPEG: nothing larger is a chunk
constexpr std::int64_t kAnyInteger = std::int64_t{1} << 31;

class Jpeg2kCodec : public ArrayBytesCodec {
 public:
  explicit Jpeg2kCodec(const ImageAxes& axes) : axes_(axes) {}

  void decode(std::span<const std::byte> encoded, const Box& box, const View& dst) const override {
    axes_.decode(
        box, dst, [&](const pixels::JpegWindow& window, std::byte* to, std::ptrdiff_t row_step) {
          pixels::decode_jpeg2000_window(encoded, kOrigin, axes_.shape, window, to, row_step);
        });
  }

  void encode(const View&, std::vector<std::byte>&) const override {
    fail(ErrorCode::unsupported,
         "{}: pixels are not encoded as JPEG 2000, tiles of slides are only copied; take blosc, "
         "zstd or imagecodecs_jpeg",
         kOrigin);
  }

 private:
  ImageAxes axes_;
};

}  // namespace

std::unique_ptr<ArrayBytesCodec> make_imagecodecs_jpeg2k(CodecConfig& config,
                                                         const ChunkSpec& spec) {
  static constexpr std::string_view kFormats[] = {"J2K", "JP2", "j2k", "jp2"};
  for (const char* key : {"level", "resolutions", "verbose", "numthreads"})
    config.integer_or(key, 0, -kAnyInteger, kAnyInteger);
  config.integer_or("bitspersample", 8, 8, 8);
  for (const char* key : {"reversible", "mct"}) config.boolean_or(key, true);
  for (const char* key : {"codecformat", "colorspace", "tile"}) {
    if (!config.has(key)) {
      config.require_null(key);
    } else if (key == std::string_view("codecformat")) {
      config.choice(key, kFormats);
    } else if (key == std::string_view("tile")) {
      config.integers(key);
    } else if (!config.value(key).is_string()) {
      config.reject(key, "expected a text");
    }
  }
  config.require_null("planar");
  config.finish();
  return std::make_unique<Jpeg2kCodec>(ImageAxes::of(spec, kName, kMaxEdge, config.origin()));
}

}  // namespace headrace::zarr
