#pragma once
#include <cstddef>
#include <cstdint>

#include "headrace/cohort/cohort.hpp"
#include "headrace/pixels/image.hpp"
#include "headrace/pixels/quality/ink.hpp"
#include "headrace/pixels/quality/sharpness.hpp"
#include "headrace/pixels/tissue/mask.hpp"

namespace headrace::predict {

/// A part of a level of a slide, (y, x, 3); what lies outside the level is white.
struct SlidePart {
  std::size_t level = 0;
  std::int64_t y = 0, x = 0, height = 0, width = 0;
};
pixels::Image8 read_slide(const cohort::Cohort& cohort, std::size_t image, const SlidePart& part);

/// The slide's tissue mask, and pixels of level 0 along the edge of one of its pixels.
struct SlideTissue {
  pixels::Mask mask;
  double downsample = 1;
};
SlideTissue read_tissue(const cohort::Cohort& cohort, std::size_t image);

/// Of the level of the tissue mask. Errors: those of reading the store.
pixels::InkShares ink_of(const cohort::Cohort& cohort, std::size_t image);
/// pixels::sharpness_of of a stored slide. Errors: those of reading the store.
pixels::Sharpness sharpness_of(const cohort::Cohort& cohort, std::size_t image,
                               const SlideTissue& tissue);

}  // namespace headrace::predict
