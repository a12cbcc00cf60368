#include "headrace/imaging/slide/tiff_level_slide.hpp"

#include <tiff.h>

#include <utility>

#include "headrace/core/error.hpp"
#include "headrace/imaging/slide/plain_slide.hpp"
#include "headrace/imaging/tiff/tiff_image.hpp"

namespace headrace::imaging {
namespace {

class TiffLevelSlide : public SlideReader {
 public:
  TiffLevelSlide(std::unique_ptr<SlideReader> slide, std::unique_ptr<SlideReader> level0)
      : slide_(std::move(slide)), level0_(std::move(level0)), info_(slide_->info()) {
    const SlideLevel& stored = level0_->info().levels[0];
    info_.levels[0].block_height = stored.block_height;
    info_.levels[0].block_width = stored.block_width;
  }

  const SlideInfo& info() const override { return info_; }
  void read(int level, std::int64_t y0, std::int64_t x0, std::int64_t height, std::int64_t width,
            std::uint8_t* dst, std::int64_t stride) const override {
    (level == 0 ? level0_ : slide_)->read(level, y0, x0, height, width, dst, stride);
  }
  /// Which tiles are missing, and so transparent, OpenSlide knows; what it refuses has all of them.
  void read_rgba(int level, std::int64_t y0, std::int64_t x0, std::int64_t height,
                 std::int64_t width, std::uint8_t* dst) const override {
    if (level != 0) return slide_->read_rgba(level, y0, x0, height, width, dst);
    try {
      slide_->read_rgba(0, y0, x0, height, width, dst);
    } catch (const Error&) {
      level0_->read_rgba(0, y0, x0, height, width, dst);
    }
  }

 private:
  std::unique_ptr<SlideReader> slide_, level0_;
  SlideInfo info_;
};

bool plain_pixels(const TiffInfo& info) {
  const bool rgb = info.photometric == PHOTOMETRIC_RGB && info.samples == 3;
  const bool grey = info.photometric == PHOTOMETRIC_MINISBLACK && info.samples == 1;
  return info.bits == 8 && (rgb || grey) && info.orientation == ORIENTATION_TOPLEFT;
}

}  // namespace

std::unique_ptr<SlideReader> with_tiff_level(std::unique_ptr<SlideReader> slide,
                                             const std::string& path) {
  try {
    const TiffInfo info = TiffImage::open(path)->info();
    const SlideLevel& level0 = slide->info().levels[0];
    if (!plain_pixels(info) || info.height != level0.height || info.width != level0.width)
      return slide;
    return std::make_unique<TiffLevelSlide>(std::move(slide), open_plain_slide(path));
  } catch (const Error&) {
    return slide;  // libtiff refuses a file that OpenSlide reads
  }
}

}  // namespace headrace::imaging
