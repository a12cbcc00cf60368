#include "headrace/imaging/slide/plain_slide.hpp"

#include <algorithm>
#include <cstring>
#include <mutex>

#include "headrace/core/error.hpp"
#include "headrace/imaging/file_kind.hpp"
#include "headrace/imaging/image_file.hpp"
#include "headrace/imaging/orientation.hpp"
#include "headrace/imaging/pixel_size.hpp"
#include "headrace/imaging/png_codec.hpp"
#include "headrace/imaging/slide/one_level_slide.hpp"
#include "headrace/imaging/slide/tiff_slide.hpp"
#include "headrace/imaging/tiff/tiff_colours.hpp"
#include "headrace/pixels/jpeg/jpeg_app_data.hpp"
#include "headrace/pixels/jpeg/jpeg_decoder.hpp"
#include "headrace/storage/open_store.hpp"

namespace headrace::imaging {
namespace {

constexpr std::uint64_t kHeadBytes = std::uint64_t{20} << 20;  // with a profile of 16 MiB

class PlainSlide : public OneLevelSlide {
 protected:
  PlainSlide(std::string path, std::string format, std::int64_t height, std::int64_t width)
      : OneLevelSlide(std::move(path)) {
    info_.format = std::move(format);
    info_.levels = {{height, width, 1.0}};
    if (height < 1 || width < 1) fail(ErrorCode::malformed, "{}: has no pixels", path_);
  }
};

class WholeImageSlide : public PlainSlide {
 public:
  /// mpp_y, mpp_x: by the density that the file states.
  WholeImageSlide(const std::string& path, const std::string& format, std::int64_t height,
                  std::int64_t width, std::optional<double> mpp_y, std::optional<double> mpp_x,
                  std::vector<std::byte> icc_profile)
      : PlainSlide(path, format, height, width) {
    check_whole_image(path, height, width, storage::open_input(path)->size_bytes());
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
      return open_tiff_slide(path, nullptr);
    case FileKind::png: {
      const PngInfo info = read_png_info(path);
      if (info.bits > 8) fail(ErrorCode::unsupported, "{}: {}", path, why_not_deep(info.bits));
      return std::make_unique<WholeImageSlide>(path, "png", info.height, info.width,
                                               info.spacing.mpp_y, info.spacing.mpp_x,
                                               info.icc_profile);
    }
    case FileKind::jpeg: {
      const auto head = storage::open_input(path)->head(kHeadBytes);
      const pixels::JpegInfo info = pixels::read_jpeg_info(head, path);
      if (const auto turned = why_turned(exif_orientation(pixels::jpeg_exif(head))))
        fail(ErrorCode::unsupported, "{}: {}", path, *turned);
      return std::make_unique<WholeImageSlide>(path, "jpeg", info.height, info.width, info.mpp_y,
                                               info.mpp_x, pixels::jpeg_icc_profile(head));
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
