#include "headrace/ingest/slide/mask_place.hpp"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <tuple>

namespace headrace::ingest {
namespace {

bool fits(std::int64_t mask, std::int64_t image, std::int64_t scale) {
  if (scale == 1) return std::abs(mask - image) <= 1;
  return mask == image / scale || mask == (image + scale - 1) / scale;
}

}  // namespace

MaskPlace place_mask(LevelSize mask, LevelSize image) {
  MaskPlace best{0, mask, {0, 0, image.height, image.width}};
  if (mask.height < 1 || mask.width < 1) return best;
  // The numbers that fit the longer side are few.
  const bool tall = mask.height > mask.width;
  const std::int64_t side = tall ? mask.height : mask.width;
  const std::int64_t whole = tall ? image.height : image.width;
  const double wanted = static_cast<double>(whole) / static_cast<double>(side);
  std::tuple<int, double> best_rank{};
  for (std::int64_t scale = std::max<std::int64_t>(1, whole / (side + 1));
       scale <= whole / std::max<std::int64_t>(1, side - 1) + 1; ++scale) {
    if (!fits(mask.height, image.height, scale) || !fits(mask.width, image.width, scale)) continue;
    const bool exact = mask.height * scale == image.height && mask.width * scale == image.width;
    const int kind = exact ? 0 : std::has_single_bit(static_cast<std::uint64_t>(scale)) ? 1 : 2;
    const std::tuple rank{kind, std::abs(static_cast<double>(scale) - wanted)};
    if (best.scale != 0 && rank >= best_rank) continue;
    best.scale = scale;
    best_rank = rank;
  }
  return best;
}

MaskPlace place_on_canvas(LevelSize mask, const SlideCanvas& canvas) {
  MaskPlace whole = place_mask(mask, canvas.size);
  if (!canvas.scan) return whole;
  MaskPlace part = place_mask(mask, {canvas.scan->height, canvas.scan->width});
  part.shown = *canvas.scan;
  if (whole.scale == 0) return part;
  const bool same_place = part.scale == whole.scale && part.shown.y0 == 0 && part.shown.x0 == 0;
  whole.other = same_place ? 0 : part.scale;
  return whole;
}

}  // namespace headrace::ingest
