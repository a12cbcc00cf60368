#include "headrace/imaging/slide/described_slide.hpp"

#include <utility>

namespace headrace::imaging {
namespace {

class DescribedSlide : public SlideReader {
 public:
  DescribedSlide(std::unique_ptr<SlideReader> slide, SlideInfo info)
      : slide_(std::move(slide)), info_(std::move(info)) {}

  const SlideInfo& info() const override { return info_; }
  void read(int level, std::int64_t y0, std::int64_t x0, std::int64_t height, std::int64_t width,
            std::uint8_t* dst, std::int64_t stride) const override {
    slide_->read(level, y0, x0, height, width, dst, stride);
  }
  void read_rgba(int level, std::int64_t y0, std::int64_t x0, std::int64_t height,
                 std::int64_t width, std::uint8_t* dst) const override {
    slide_->read_rgba(level, y0, x0, height, width, dst);
  }
  void read_patches(std::span<const SlidePatch> patches, std::int64_t height, std::int64_t width,
                    ThreadPool& pool) const override {
    slide_->read_patches(patches, height, width, pool);
  }
  const EncodedTiles* encoded_tiles() const override { return slide_->encoded_tiles(); }

 private:
  std::unique_ptr<SlideReader> slide_;
  SlideInfo info_;
};

}  // namespace

std::unique_ptr<SlideReader> with_info(std::unique_ptr<SlideReader> slide, SlideInfo info) {
  return std::make_unique<DescribedSlide>(std::move(slide), std::move(info));
}

}  // namespace headrace::imaging
