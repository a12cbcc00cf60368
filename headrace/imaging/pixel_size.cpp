#include "headrace/imaging/pixel_size.hpp"

namespace headrace::imaging {
namespace {

constexpr double kFinest = 0.02, kCoarsest = 50, kCoarsestDensity = 20;

PixelSize passed_over(double mpp_y, double mpp_x) {
  return {std::nullopt, std::nullopt, {make_note(NoteCode::pixel_size_ignored, {mpp_y, mpp_x})}};
}

}  // namespace

bool credible_mpp(double mpp) { return mpp >= kFinest && mpp <= kCoarsest; }

PixelSize stated_pixel_size(double mpp_y, double mpp_x) {
  if (!credible_mpp(mpp_y) || !credible_mpp(mpp_x)) return passed_over(mpp_y, mpp_x);
  return {mpp_y, mpp_x, {}};
}

PixelSize pixel_size_of_density(double mpp_y, double mpp_x) {
  if (!credible_mpp(mpp_y) || !credible_mpp(mpp_x)) return {};
  if (mpp_y > kCoarsestDensity || mpp_x > kCoarsestDensity) return passed_over(mpp_y, mpp_x);
  return {mpp_y, mpp_x, {}};
}

}  // namespace headrace::imaging
