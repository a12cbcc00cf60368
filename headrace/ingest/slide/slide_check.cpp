#include "headrace/ingest/slide/slide_check.hpp"

#include <algorithm>
#include <cmath>

#include "headrace/pixels/quality/ink.hpp"
#include "headrace/pixels/quality/sharpness.hpp"
#include "headrace/pixels/stain/stain_angles.hpp"

namespace headrace::ingest {
namespace {

using imaging::make_note;
using imaging::NoteCode;

/// A quarter of the windows tells a slide that is so many times as sharp as the limit.
constexpr double kClearlySharp = 1.5;
constexpr std::size_t kEvery = 4;

bool one_colour(const pixels::Image8& rgb) {
  const auto& all = rgb.pixels;
  return all.size() >= 3 && std::equal(all.begin() + 3, all.end(), all.begin());
}

std::vector<pixels::SlideScale> scales_of(const SlidePlan& plan) {
  std::vector<pixels::SlideScale> scales;
  for (std::size_t k = 0; k < plan.levels.size(); ++k) {
    const LevelSize& size = plan.levels[k].size;
    const double factor = std::ldexp(1.0, static_cast<int>(k));
    const double mpp = std::sqrt(plan.mpp_y * factor * (plan.mpp_x * factor));
    scales.push_back({mpp, factor, size.height, size.width});
  }
  return scales;
}

pixels::Image8 read_box(const zarr::Array& level, const Box2& box) {
  pixels::Image8 rgb(box.height, box.width, 3);
  level.read({{0, box.y0, box.x0},
              {3, box.height, box.width},
              reinterpret_cast<std::byte*>(rgb.pixels.data()),
              {1, 3 * box.width, 3},
              {}});
  return rgb;
}

void judge_sharpness(std::vector<imaging::Note>& out, const SlidePlan& plan,
                     const pixels::Mask& tissue, const OpenLevel& open) {
  const auto scales = scales_of(plan);
  std::shared_ptr<const zarr::Array> array;
  const auto sharpness = [&](std::size_t every) {
    return pixels::sharpness_of(
        scales, tissue, std::ldexp(1.0, plan.tissue_level),
        [&](std::size_t level, const Box2& box) {
          if (!array) array = open(level);  // all windows are of one level
          return read_box(*array, box);
        },
        every);
  };
  using pixels::kSharpnessLimit;
  const pixels::Sharpness some = sharpness(kEvery);
  if (some.variances.empty() || some.median() >= kClearlySharp * kSharpnessLimit) return;
  const pixels::Sharpness all = sharpness(1);
  if (all.median() >= kSharpnessLimit) return;
  out.push_back(make_note(NoteCode::slide_blurred,
                          {all.median(), kSharpnessLimit, all.share_below(kSharpnessLimit),
                           static_cast<double>(all.variances.size()), all.mpp}));
}

}  // namespace

std::vector<imaging::Note> check_slide(const SlidePlan& plan, const pixels::Image8& low,
                                       const pixels::TissueMask& tissue, const SlideColour& colour,
                                       const OpenLevel& open) {
  if (one_colour(low)) {
    const auto& rgb = low.pixels;
    return {make_note(
        NoteCode::one_colour,
        {static_cast<double>(rgb[0]), static_cast<double>(rgb[1]), static_cast<double>(rgb[2])})};
  }
  std::vector<imaging::Note> notes;
  if (tissue.mask.count() == 0) {
    notes.push_back(make_note(NoteCode::no_tissue));
  } else {
    judge_sharpness(notes, plan, tissue.mask, open);
  }
  const pixels::InkShares ink = pixels::ink_shares(low);
  if (pixels::is_dark_field(ink))
    notes.push_back(make_note(NoteCode::not_bright_field, {ink.black}));
  if (colour.stain) {
    const auto [haematoxylin, eosin] =
        pixels::stain_angles(colour.stain->stain_od_rgb_he, pixels::kReferenceOdRgbHe);
    if (std::max(haematoxylin, eosin) > pixels::kStainLimitDegrees) {
      notes.push_back(
          make_note(NoteCode::stains_unlike, {haematoxylin, eosin, pixels::kStainLimitDegrees}));
    }
  }
  return notes;
}

}  // namespace headrace::ingest
