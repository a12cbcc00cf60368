#include "cli/montage.hpp"

#include "headrace/pixels/palette.hpp"

namespace headrace::cli {

void draw_legend(Canvas& canvas, const std::vector<std::string>& classes) {
  std::int64_t x = kMargin;
  for (std::size_t c = 1; c < classes.size(); ++c) {
    const std::int64_t need = 18 + 7 * static_cast<std::int64_t>(classes[c].size());
    if (x + need > canvas.image().width) break;
    canvas.fill(kMargin + kLine + 3, x, 9, 9, pixels::class_colour(c));
    canvas.text(kMargin + kLine, x + 14, classes[c], kInk, need);
    x += need + 12;
  }
}

void outline(pixels::Image8& image, const std::uint8_t* labels, std::int64_t reach) {
  for (std::int64_t y = reach; y + reach < image.height; ++y) {
    for (std::int64_t x = reach; x + reach < image.width; ++x) {
      const std::uint8_t* at = labels + y * image.width + x;
      if (*at == 0 || *at == 255) continue;
      const bool inside = at[-reach] == *at && at[reach] == *at &&
                          at[-reach * image.width] == *at && at[reach * image.width] == *at;
      if (inside) continue;
      const Rgb colour = pixels::class_colour(*at);
      std::copy(colour.begin(), colour.end(), image.row(y) + 3 * x);
    }
  }
}

}  // namespace headrace::cli
