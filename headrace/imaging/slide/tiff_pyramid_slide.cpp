#include "headrace/imaging/slide/tiff_pyramid_slide.hpp"

#include <utility>
#include <vector>

#include "headrace/core/error.hpp"
#include "headrace/imaging/slide/white_outside.hpp"
#include "headrace/imaging/tiff/tiff_picture.hpp"

namespace headrace::imaging {
namespace {

using Levels = std::vector<std::unique_ptr<TiffImage>>;

class TiffPyramidSlide : public SlideReader {
 public:
  TiffPyramidSlide(std::unique_ptr<SlideReader> level0, Levels more, std::string path)
      : level0_(std::move(level0)),
        more_(std::move(more)),
        path_(std::move(path)),
        info_(level0_->info()) {
    const SlideLevel first = info_.levels[0];
    for (const auto& image : more_) {
      const TiffInfo& info = image->info();
      const double down = (static_cast<double>(first.height) / static_cast<double>(info.height) +
                           static_cast<double>(first.width) / static_cast<double>(info.width)) /
                          2;
      info_.levels.push_back({info.height, info.width, down, info.block_height, info.block_width});
    }
  }

  const SlideInfo& info() const override { return info_; }

  void read(int level, std::int64_t y0, std::int64_t x0, std::int64_t height, std::int64_t width,
            std::uint8_t* dst, std::int64_t stride) const override {
    if (level == 0) return level0_->read(0, y0, x0, height, width, dst, stride);
    if (level < 0 || level >= static_cast<int>(info_.levels.size())) {
      fail(ErrorCode::usage, "{}: has {} levels, level {} was asked for", path_,
           info_.levels.size(), level);
    }
    const TiffImage& image = *more_[static_cast<std::size_t>(level - 1)];
    read_on_white(image.info().height, image.info().width, y0, x0, height, width, dst, stride,
                  [&](std::int64_t y, std::int64_t x, std::int64_t h, std::int64_t w,
                      std::uint8_t* to) { image.read_rgb(y, x, h, w, to, stride); });
  }

  void read_rgba(int level, std::int64_t y0, std::int64_t x0, std::int64_t height,
                 std::int64_t width, std::uint8_t* dst) const override {
    if (level == 0) return level0_->read_rgba(0, y0, x0, height, width, dst);
    SlideReader::read_rgba(level, y0, x0, height, width, dst);
  }

 private:
  std::unique_ptr<SlideReader> level0_;
  Levels more_;
  std::string path_;
  SlideInfo info_;
};

}  // namespace

std::unique_ptr<SlideReader> with_tiff_pyramid(std::unique_ptr<SlideReader> slide,
                                               const std::string& path, const TiffPages& pages) {
  const SlideLevel& level0 = slide->info().levels[0];
  if (slide->info().levels.size() != 1 || pages.levels[0].height != level0.height ||
      pages.levels[0].width != level0.width) {
    return slide;
  }
  Levels levels;
  for (std::size_t k = 1; k < pages.levels.size(); ++k) {
    try {
      auto image = open_tiff_picture(path, pages, k);
      if (!image->why_not_rgb()) levels.push_back(std::move(image));
    } catch (const Error& error) {
      if (error.code() == ErrorCode::io) throw;
      // A level that can't be read: the slide is whole without it.
    }
  }
  if (levels.empty()) return slide;
  return std::make_unique<TiffPyramidSlide>(std::move(slide), std::move(levels), path);
}

}  // namespace headrace::imaging
