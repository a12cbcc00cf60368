#include "headrace/imaging/slide/plain_slide.hpp"

#include <algorithm>
#include <cstring>
#include <mutex>

#include "headrace/core/error.hpp"
#include "headrace/imaging/orientation.hpp"
#include "headrace/imaging/picture/image_file.hpp"
#include "headrace/imaging/picture/png_codec.hpp"
#include "headrace/imaging/pixel_size.hpp"
#include "headrace/imaging/slide/one_level_slide.hpp"
#include "headrace/imaging/tiff/tiff_colours.hpp"
#include "headrace/pixels/jpeg/jpeg_app_data.hpp"
#include "headrace/pixels/jpeg/jpeg_decoder.hpp"

namespace headrace::imaging {
namespace {

constexpr std::uint64_t kHeadBytes = std::uint64_t{20} << 20;  // with a profile of 16 MiB

class WholeImageSlide : public OneLevelSlide {
 public:
  /// mpp_y, mpp_x: by the density that the file states.
  WholeImageSlide(const SlideFile& file, std::string format, std::int64_t height,
                  std::int64_t width, std::optional<double> mpp_y, std::optional<double> mpp_x,
                  std::vector<std::byte> icc_profile)
      : OneLevelSlide(file.name), file_(file.object) {
    info_.format = std::move(format);
    info_.levels = {{height, width, 1.0}};
    if (height < 1 || width < 1) fail(ErrorCode::malformed, "{}: has no pixels", path_);
    check_whole_image(*file_, height, width);
    info_.icc_profile = std::move(icc_profile);
    if (!mpp_y || !mpp_x) return;
    const PixelSize size = pixel_size_of_density(*mpp_y, *mpp_x);
    info_.mpp_y = size.mpp_y;
    info_.mpp_x = size.mpp_x;
    info_.notes = size.notes;
  }

 private:
  void read_inside(std::int64_t y0, std::int64_t x0, std::int64_t height, std::int64_t width,
                   std::uint8_t* dst, std::int64_t stride) const override {
    {
      const std::lock_guard lock(mutex_);
      if (image_.pixels.empty()) image_ = read_rgb(file_);
    }
    for (std::int64_t y = 0; y < height; ++y) {
      std::memcpy(dst + y * stride, image_.row(y0 + y) + x0 * 3, std::size_t(width * 3));
    }
  }

  std::shared_ptr<const storage::Object> file_;
  mutable std::mutex mutex_;
  mutable pixels::Image8 image_;
};

}  // namespace

bool is_png_slide(const SlideFile& file) {
  return file.kind == FileKind::png && file.vendor.empty();
}

std::unique_ptr<SlideReader> open_png_slide(const SlideFile& file) {
  const PngInfo info = read_png_info(file.object);
  if (info.bits > 8) fail(ErrorCode::unsupported, "{}: {}", file.name, why_not_deep(info.bits));
  return std::make_unique<WholeImageSlide>(file, "png", info.height, info.width, info.spacing.mpp_y,
                                           info.spacing.mpp_x, info.icc_profile);
}

bool is_jpeg_slide(const SlideFile& file) {
  return file.kind == FileKind::jpeg && file.vendor.empty();
}

std::unique_ptr<SlideReader> open_jpeg_slide(const SlideFile& file) {
  const auto head = file.object->head(kHeadBytes);
  const pixels::JpegInfo info = pixels::read_jpeg_info(head, file.name);
  if (const auto turned = why_turned(exif_orientation(pixels::jpeg_exif(head))))
    fail(ErrorCode::unsupported, "{}: {}", file.name, *turned);
  return std::make_unique<WholeImageSlide>(file, "jpeg", info.height, info.width, info.mpp_y,
                                           info.mpp_x, pixels::jpeg_icc_profile(head));
}

}  // namespace headrace::imaging
