#include "headrace/imaging/image_file.hpp"

#include <span>

#include "headrace/core/error.hpp"
#include "headrace/imaging/file_kind.hpp"
#include "headrace/imaging/orientation.hpp"
#include "headrace/imaging/png_codec.hpp"
#include "headrace/imaging/slide/label_reader.hpp"
#include "headrace/imaging/tiff/tiff_colours.hpp"
#include "headrace/imaging/tiff/tiff_picture.hpp"
#include "headrace/pixels/jpeg/jpeg_app_data.hpp"
#include "headrace/pixels/jpeg/jpeg_decoder.hpp"
#include "headrace/storage/atomic_file.hpp"
#include "headrace/storage/open_store.hpp"

namespace headrace::imaging {
namespace {

pixels::Image8 decode_tiff(const std::string& path) {
  const auto tiff = open_tiff_picture(path);
  if (tiff->why_not_rgb()) fail(ErrorCode::unsupported, "{}: {}", path, *tiff->why_not_rgb());
  const auto& info = tiff->info();
  check_whole_image(path, info.height, info.width, storage::open_input(path)->size_bytes());
  pixels::Image8 image(info.height, info.width, 3);
  tiff->read_rgb(0, 0, image.height, image.width, image.pixels.data(), image.width * 3);
  return image;
}

pixels::Image8 decode_jpeg(const std::string& path) {
  const auto file = storage::open_input(path);
  const std::uint64_t size = file->size_bytes();
  if (size > kMaxWholeImageBytes)
    fail(ErrorCode::memory, "{}: a JPEG of {} bytes is too large", path, size);
  const auto bytes = file->head(size);
  const pixels::JpegInfo info = pixels::read_jpeg_info(bytes, path);
  if (const auto turned = why_turned(exif_orientation(pixels::jpeg_exif(bytes))))
    fail(ErrorCode::unsupported, "{}: {}", path, *turned);
  check_whole_image(path, info.height, info.width, size);
  pixels::Image8 image(info.height, info.width, 3);
  pixels::decode_jpeg_rgb(bytes, path, image.height, image.width, image.pixels.data(),
                          image.width * 3);
  return image;
}

pixels::Image8 decode_png(const std::string& path) {
  const PngInfo info = read_png_info(path);
  if (info.bits > 8) fail(ErrorCode::unsupported, "{}: {}", path, why_not_deep(info.bits));
  check_whole_image(path, info.height, info.width, storage::open_input(path)->size_bytes());
  return decode_png_rgb(path, kMaxWholeImageBytes);
}

class PngLabels : public LabelReader {
 public:
  explicit PngLabels(const std::string& path) : path_(path) {
    const PngInfo info = read_png_info(path);
    check_whole_image(path, info.height, info.width, storage::open_input(path)->size_bytes());
    image_ = decode_png_labels(path, kMaxWholeImageBytes, colours_);
  }
  std::int64_t height() const override { return image_.height; }
  std::int64_t width() const override { return image_.width; }
  void read(std::int64_t y0, std::int64_t x0, std::int64_t h, std::int64_t w, std::uint16_t* dst,
            std::int64_t row_stride) const override {
    if (y0 < 0 || x0 < 0 || h < 0 || w < 0 || y0 + h > image_.height || x0 + w > image_.width) {
      fail(ErrorCode::usage,
           "{}: rows {} to {} and columns {} to {} are not inside the image of {}x{}", path_, y0,
           y0 + h, x0, x0 + w, image_.width, image_.height);
    }
    for (std::int64_t y = 0; y < h; ++y) {
      const std::uint16_t* row = image_.row(y0 + y) + x0;
      std::copy(row, row + w, dst + y * row_stride);
    }
  }
  ColourCount count_colours(std::int64_t y0, std::int64_t h) const override {
    ColourCount sum;
    if (colours_.empty()) return sum;
    for (std::int64_t y = y0; y < y0 + h; ++y) sum += colours_[static_cast<std::size_t>(y)];
    return sum;
  }

 private:
  std::string path_;
  pixels::Image<std::uint16_t> image_;
  std::vector<ColourCount> colours_;  // by row
};

class TiffLabels : public LabelReader {
 public:
  explicit TiffLabels(const std::string& path) : tiff_(open_tiff_picture(path, TiffRole::mask)) {
    if (const auto turned = why_turned(tiff_->info().orientation))
      fail(ErrorCode::unsupported, "{}: {}", path, *turned);
  }
  std::int64_t height() const override { return tiff_->info().height; }
  std::int64_t width() const override { return tiff_->info().width; }
  void read(std::int64_t y0, std::int64_t x0, std::int64_t h, std::int64_t w, std::uint16_t* dst,
            std::int64_t row_stride) const override {
    tiff_->read_first_sample(y0, x0, h, w, dst, row_stride);
  }
  ColourCount count_colours(std::int64_t y0, std::int64_t h) const override {
    return tiff_->count_colours(y0, h);
  }

 private:
  std::unique_ptr<TiffImage> tiff_;
};

}  // namespace

std::unique_ptr<LabelReader> LabelReader::open(const std::string& path) {
  switch (file_kind(path)) {
    case FileKind::png:
      return std::make_unique<PngLabels>(path);
    case FileKind::tiff:
      return std::make_unique<TiffLabels>(path);
    case FileKind::jpeg:
      fail(ErrorCode::unsupported,
           "{}: a JPEG cannot hold labels, its values are not exact; give a PNG or TIFF", path);
    case FileKind::other:
      break;
  }
  fail(ErrorCode::malformed, "{}: is neither a PNG nor a TIFF; it starts with {}", path,
       describe_head(path));
}

pixels::Image8 read_rgb(const std::string& path) {
  switch (file_kind(path)) {
    case FileKind::png:
      return decode_png(path);
    case FileKind::tiff:
      return decode_tiff(path);
    case FileKind::jpeg:
      return decode_jpeg(path);
    case FileKind::other:
      break;
  }
  fail(ErrorCode::malformed, "{}: is not a PNG, JPEG or TIFF; it starts with {}", path,
       describe_head(path));
}

pixels::Image<std::uint16_t> read_labels(const std::string& path) {
  const auto reader = LabelReader::open(path);
  check_whole_image(path, reader->height(), reader->width(),
                    storage::open_input(path)->size_bytes());
  pixels::Image<std::uint16_t> image(reader->height(), reader->width(), 1);
  reader->read(0, 0, image.height, image.width, image.pixels.data(), image.width);
  return image;
}

std::vector<std::uint8_t> encode_png(const pixels::Image8& image) {
  return encode_png_bytes(image);
}

void write_png(const std::string& path, const pixels::Image8& image) {
  const auto bytes = encode_png_bytes(image);
  storage::write_file(path, std::as_bytes(std::span(bytes)));
}

}  // namespace headrace::imaging
