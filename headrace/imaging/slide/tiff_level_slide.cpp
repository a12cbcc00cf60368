#include "headrace/imaging/slide/tiff_level_slide.hpp"

#include <utility>

#include "headrace/core/error.hpp"

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

}  // namespace

std::unique_ptr<SlideReader> with_tiff_level(std::unique_ptr<SlideReader> slide,
                                             std::unique_ptr<SlideReader> level0) {
  const SlideLevel &read = slide->info().levels[0], &stored = level0->info().levels[0];
  if (read.height != stored.height || read.width != stored.width) return slide;
  return std::make_unique<TiffLevelSlide>(std::move(slide), std::move(level0));
}

}  // namespace headrace::imaging
