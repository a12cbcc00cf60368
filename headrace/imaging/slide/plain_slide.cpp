#include "headrace/imaging/slide/plain_slide.hpp"

#include <algorithm>
#include <cstring>
#include <mutex>

#include "headrace/core/error.hpp"
#include "headrace/imaging/file_kind.hpp"
#include "headrace/imaging/image_file.hpp"
#include "headrace/imaging/png_codec.hpp"
#include "headrace/imaging/slide/white_outside.hpp"
#include "headrace/imaging/tiff/tiff_image.hpp"
#include "headrace/imaging/whole_file.hpp"
#include "headrace/pixels/jpeg/jpeg_decoder.hpp"

namespace headrace::imaging {
namespace {

/// One level; pixels outside the picture are white.
class PlainSlide : public SlideReader {
 public:
  const SlideInfo& info() const override { return info_; }

  void read(int level, std::int64_t y0, std::int64_t x0, std::int64_t height, std::int64_t width,
            std::uint8_t* dst, std::int64_t stride) const override {
    if (level != 0) fail(ErrorCode::usage, "{}: has 1 level, level {} was asked for", path_, level);
    const SlideLevel& size = info_.levels[0];
    read_on_white(size.height, size.width, y0, x0, height, width, dst, stride,
                  [&](std::int64_t y, std::int64_t x, std::int64_t h, std::int64_t w,
                      std::uint8_t* to) { read_inside(y, x, h, w, to, stride); });
  }

 protected:
  PlainSlide(std::string path, std::string format, std::int64_t height, std::int64_t width)
      : path_(std::move(path)) {
    info_.format = std::move(format);
    info_.levels = {{height, width, 1.0}};
    if (height < 1 || width < 1) fail(ErrorCode::malformed, "{}: has no pixels", path_);
  }
  void set_mpp(std::optional<double> y, std::optional<double> x) {
    if (y && x && credible_mpp(*y) && credible_mpp(*x)) {
      info_.mpp_y = y;
      info_.mpp_x = x;
    }
  }
  virtual void read_inside(std::int64_t y0, std::int64_t x0, std::int64_t height,
                           std::int64_t width, std::uint8_t* dst, std::int64_t stride) const = 0;

  std::string path_;
  SlideInfo info_;
};

class TiffSlide : public PlainSlide {
 public:
  TiffSlide(const std::string& path, std::unique_ptr<TiffImage> tiff)
      : PlainSlide(path, "tiff", tiff->info().height, tiff->info().width), tiff_(std::move(tiff)) {
    if (tiff_->why_not_rgb()) fail(ErrorCode::unsupported, "{}: {}", path, *tiff_->why_not_rgb());
    set_mpp(tiff_->info().mpp_y, tiff_->info().mpp_x);
    info_.levels[0].block_height = tiff_->info().block_height;
    info_.levels[0].block_width = tiff_->info().block_width;
  }

 private:
  void read_inside(std::int64_t y0, std::int64_t x0, std::int64_t height, std::int64_t width,
                   std::uint8_t* dst, std::int64_t stride) const override {
    tiff_->read_rgb(y0, x0, height, width, dst, stride);
  }

  std::unique_ptr<TiffImage> tiff_;
};

class WholeImageSlide : public PlainSlide {
 public:
  WholeImageSlide(const std::string& path, const std::string& format, std::int64_t height,
                  std::int64_t width, std::optional<double> mpp_y, std::optional<double> mpp_x)
      : PlainSlide(path, format, height, width) {
    check_whole_image(path, height, width, FileBytes(path).size());
    set_mpp(mpp_y, mpp_x);
  }

 private:
  void read_inside(std::int64_t y0, std::int64_t x0, std::int64_t height, std::int64_t width,
                   std::uint8_t* dst, std::int64_t stride) const override {
    {
      const std::lock_guard lock(mutex_);
      if (image_.pixels.empty()) image_ = read_rgb(path_);
    }
    for (std::int64_t y = 0; y < height; ++y) {
      std::memcpy(dst + y * stride, image_.row(y0 + y) + x0 * 3, std::size_t(width * 3));
    }
  }

  mutable std::mutex mutex_;
  mutable pixels::Image8 image_;
};

}  // namespace

std::unique_ptr<SlideReader> open_plain_slide(const std::string& path) {
  switch (file_kind(path)) {
    case FileKind::tiff:
      return std::make_unique<TiffSlide>(path, TiffImage::open(path));
    case FileKind::png: {
      const PngInfo info = read_png_info(path);
      return std::make_unique<WholeImageSlide>(path, "png", info.height, info.width,
                                               info.spacing.mpp_y, info.spacing.mpp_x);
    }
    case FileKind::jpeg: {
      const FileBytes file(path);
      const pixels::JpegInfo info =
          pixels::read_jpeg_info(file.head(std::min<std::uint64_t>(file.size(), 4 << 20)), path);
      return std::make_unique<WholeImageSlide>(path, "jpeg", info.height, info.width, info.mpp_y,
                                               info.mpp_x);
    }
    case FileKind::other:
      break;
  }
  fail(ErrorCode::malformed,
       "{}: is neither a slide nor an image that can be read: it starts with {}, expected a slide "
       "format of OpenSlide, TIFF, PNG or JPEG",
       path, describe_head(path));
}

}  // namespace headrace::imaging
