#include "headrace/imaging/picture/image_file.hpp"

#include <span>

#include "headrace/core/error.hpp"
#include "headrace/imaging/file_kind.hpp"
#include "headrace/imaging/label_reader.hpp"
#include "headrace/imaging/orientation.hpp"
#include "headrace/imaging/picture/png_codec.hpp"
#include "headrace/imaging/tiff/tiff_colours.hpp"
#include "headrace/imaging/tiff/tiff_picture.hpp"
#include "headrace/pixels/jpeg/jpeg_app_data.hpp"
#include "headrace/pixels/jpeg/jpeg_decoder.hpp"
#include "headrace/storage/atomic_file.hpp"
#include "headrace/storage/open_store.hpp"

namespace headrace::imaging {
namespace {

using File = std::shared_ptr<const storage::Object>;

pixels::Image8 decode_tiff(const File& file) {
  const auto tiff = open_tiff_picture(file);
  if (tiff->why_not_rgb())
    fail(ErrorCode::unsupported, "{}: {}", file->describe(), *tiff->why_not_rgb());
  const auto& info = tiff->info();
  check_whole_image(*file, info.height, info.width);
  pixels::Image8 image(info.height, info.width, 3);
  tiff->read_rgb(0, 0, image.height, image.width, image.pixels.data(), image.width * 3);
  return image;
}

pixels::Image8 decode_jpeg(const File& file) {
  const std::string path = file->describe();
  const std::uint64_t size = file->size_bytes();
  if (size > kMaxWholeImageBytes)
    fail(ErrorCode::memory, "{}: a JPEG of {} bytes is too large", path, size);
  const auto bytes = file->head(size);
  const pixels::JpegInfo info = pixels::read_jpeg_info(bytes, path);
  if (const auto turned = why_turned(exif_orientation(pixels::jpeg_exif(bytes))))
    fail(ErrorCode::unsupported, "{}: {}", path, *turned);
  check_whole_image(*file, info.height, info.width);
  pixels::Image8 image(info.height, info.width, 3);
  pixels::decode_jpeg_rgb(bytes, path, image.height, image.width, image.pixels.data(),
                          image.width * 3);
  return image;
}

pixels::Image8 decode_png(const File& file) {
  const PngInfo info = read_png_info(file);
  if (info.bits > 8)
    fail(ErrorCode::unsupported, "{}: {}", file->describe(), why_not_deep(info.bits));
  check_whole_image(*file, info.height, info.width);
  return decode_png_rgb(file, kMaxWholeImageBytes);
}

class PngLabels : public LabelReader {
 public:
  explicit PngLabels(const File& file) : path_(file->describe()) {
    const PngInfo info = read_png_info(file);
    check_whole_image(*file, info.height, info.width);
    image_ = decode_png_labels(file, kMaxWholeImageBytes, colours_);
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
  explicit TiffLabels(const File& file) : tiff_(open_tiff_picture(file, TiffRole::mask)) {
    if (const auto turned = why_turned(tiff_->info().orientation))
      fail(ErrorCode::unsupported, "{}: {}", file->describe(), *turned);
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

std::unique_ptr<LabelReader> open_labels(const File& file) {
  const std::string path = file->describe();
  switch (file_kind(*file)) {
    case FileKind::png:
      return std::make_unique<PngLabels>(file);
    case FileKind::tiff:
      return std::make_unique<TiffLabels>(file);
    case FileKind::jpeg:
      fail(ErrorCode::unsupported,
           "{}: a JPEG cannot hold labels, its values are not exact; give a PNG or TIFF", path);
    case FileKind::other:
      break;
  }
  fail(ErrorCode::malformed, "{}: is neither a PNG nor a TIFF; it starts with {}", path,
       describe_head(*file));
}

}  // namespace

std::unique_ptr<LabelReader> LabelReader::open(const std::string& path) {
  return open_labels(storage::open_input(path));
}

pixels::Image8 read_rgb(const std::string& path) { return read_rgb(storage::open_input(path)); }

pixels::Image8 read_rgb(const std::shared_ptr<const storage::Object>& file) {
  switch (file_kind(*file)) {
    case FileKind::png:
      return decode_png(file);
    case FileKind::tiff:
      return decode_tiff(file);
    case FileKind::jpeg:
      return decode_jpeg(file);
    case FileKind::other:
      break;
  }
  fail(ErrorCode::malformed, "{}: is not a PNG, JPEG or TIFF; it starts with {}", file->describe(),
       describe_head(*file));
}

pixels::Image<std::uint16_t> read_labels(const std::string& path) {
  const File file = storage::open_input(path);
  const auto reader = open_labels(file);
  check_whole_image(*file, reader->height(), reader->width());
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
