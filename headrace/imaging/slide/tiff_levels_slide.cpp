#include "headrace/imaging/slide/tiff_levels_slide.hpp"

#include <utility>
#include <vector>

#include "headrace/core/error.hpp"
#include "headrace/imaging/slide/one_level_slide.hpp"
#include "headrace/imaging/slide/white_outside.hpp"

namespace headrace::imaging {
namespace {

using Levels = std::vector<std::unique_ptr<TiffImage>>;

class LevelZero : public OneLevelSlide {
 public:
  LevelZero(std::string path, std::unique_ptr<TiffImage> tiff)
      : OneLevelSlide(std::move(path)), tiff_(std::move(tiff)) {
    const TiffInfo& size = tiff_->info();
    if (tiff_->why_not_rgb()) fail(ErrorCode::unsupported, "{}: {}", path_, *tiff_->why_not_rgb());
    info_.format = "tiff";
    info_.levels = {{size.height, size.width, 1.0, size.block_height, size.block_width}};
    info_.icc_profile = tiff_->icc_profile();
  }

 private:
  void read_inside(std::int64_t y0, std::int64_t x0, std::int64_t height, std::int64_t width,
                   std::uint8_t* dst, std::int64_t stride) const override {
    tiff_->read_rgb(y0, x0, height, width, dst, stride);
  }

  std::unique_ptr<TiffImage> tiff_;
};

class MoreLevels : public SlideReader {
 public:
  MoreLevels(std::unique_ptr<SlideReader> level0, Levels more, std::string path)
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

std::unique_ptr<SlideReader> open_tiff_levels(const std::string& name, Levels levels) {
  auto level0 = std::make_unique<LevelZero>(name, std::move(levels.at(0)));
  levels.erase(levels.begin());
  return with_tiff_levels(std::move(level0), name, std::move(levels));
}

std::unique_ptr<SlideReader> with_tiff_levels(std::unique_ptr<SlideReader> slide,
                                              const std::string& name, Levels more) {
  if (more.empty()) return slide;
  return std::make_unique<MoreLevels>(std::move(slide), std::move(more), name);
}

}  // namespace headrace::imaging
