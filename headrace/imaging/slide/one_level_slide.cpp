#include "headrace/imaging/slide/one_level_slide.hpp"

#include "headrace/core/error.hpp"
#include "headrace/imaging/slide/white_outside.hpp"

namespace headrace::imaging {

void OneLevelSlide::read(int level, std::int64_t y0, std::int64_t x0, std::int64_t height,
                         std::int64_t width, std::uint8_t* dst, std::int64_t stride) const {
  if (level != 0) fail(ErrorCode::usage, "{}: has 1 level, level {} was asked for", path_, level);
  const SlideLevel& size = info_.levels[0];
  read_on_white(size.height, size.width, y0, x0, height, width, dst, stride,
                [&](std::int64_t y, std::int64_t x, std::int64_t h, std::int64_t w,
                    std::uint8_t* to) { read_inside(y, x, h, w, to, stride); });
}

}  // namespace headrace::imaging
