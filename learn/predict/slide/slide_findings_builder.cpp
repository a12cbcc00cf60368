#include "learn/predict/slide/slide_findings_builder.hpp"

#include <algorithm>
#include <bitset>
#include <utility>

#include "headrace/core/error.hpp"
#include "learn/predict/slide/equivocal_regions.hpp"

namespace headrace::predict {
namespace {

std::bitset<256> classes_above_0(std::size_t classes) {
  std::bitset<256> values;
  for (std::size_t c = 1; c < classes; ++c) values.set(c);
  return values;
}

void leave_out(std::uint64_t pixels, LeftOut& small) {
  ++small.count;
  small.pixels += pixels;
}

}  // namespace

SlideFindingsBuilder::SlideFindingsBuilder(SlideFacts facts)
    : found_{std::move(facts)},
      least_px_(found_.facts.least_region_px()),
      pieces_(found_.facts.map.height, found_.facts.map.width, found_.facts.piece_cell_px()),
      regions_(found_.facts.map.width, classes_above_0(found_.facts.classes()),
               found_.facts.classes() + 1, false,
               [this](pixels::TracedRegion&& region) { keep(std::move(region)); }),
      foci_(found_.facts.map.width, std::bitset<256>{2}, 0, true,
            [this](pixels::TracedRegion&& focus) {
              if (focus.pixels >= least_px_) pieces_.add_focus(focus);
            }) {
  found_.areas.px.assign(found_.facts.classes(), 0);
}

void SlideFindingsBuilder::check(std::span<const std::uint8_t> predicted,
                                 std::span<const std::uint8_t> scores) const {
  const SlideFacts& facts = found_.facts;
  const auto width = static_cast<std::size_t>(facts.map.width);
  if (next_row_ >= facts.map.height || predicted.size() != width ||
      scores.size() != width * (facts.classes() + 1)) {
    fail(ErrorCode::internal,
         "row {} of a slide: {} pixels and {} scores; expected {} rows of {} pixels of {} classes.",
         next_row_, predicted.size(), scores.size(), facts.map.height, width, facts.classes());
  }
}

/// Neighbours are mostly alike, so a run of equal values is counted at once.
void SlideFindingsBuilder::count_pixels(std::span<const std::uint8_t> predicted) {
  const std::size_t width = predicted.size();
  kinds_.resize(width);
  tumour_.resize(width);
  for (std::size_t x = 0, end = 0; x < width; x = end) {
    const std::uint8_t value = predicted[x];
    while (end < width && predicted[end] == value) ++end;
    const bool known = value != result::kNotPredicted;
    if (known && value >= found_.facts.classes())
      fail(ErrorCode::internal, "row {} of a slide: class {} of {}.", next_row_, value,
           found_.facts.classes());
    if (known) found_.areas.px[value] += end - x;
    const bool tumour = found_.facts.tumour(value);
    const auto kind = tumour                ? TissuePieces::tumour
                      : known && value != 0 ? TissuePieces::tissue
                                            : TissuePieces::none;
    std::fill_n(tumour_.data() + x, end - x, tumour ? 1 : 0);
    std::fill_n(kinds_.data() + x, end - x, kind);
  }
}

void SlideFindingsBuilder::add(std::span<const std::uint8_t> predicted,
                               std::span<const std::uint8_t> scores) {
  check(predicted, scores);
  count_pixels(predicted);
  pieces_.add_row(kinds_);
  regions_.add(predicted, scores);
  foci_.add(tumour_, {});
  ++next_row_;
}

void SlideFindingsBuilder::keep(pixels::TracedRegion&& region) {
  if (region.pixels < least_px_) {
    leave_out(region.pixels, found_.small_regions);
    return;
  }
  SlideRegion kept;
  kept.number = static_cast<std::uint32_t>(found_.regions.size() + 1);
  kept.label = region.value;
  kept.pixels = region.pixels;
  kept.y0 = region.y0;
  kept.x0 = region.x0;
  kept.y1 = region.y1;
  kept.x1 = region.x1;
  kept.doubled_yx = region.doubled_yx;
  kept.entropy_sum = region.sums.back();
  region.sums.pop_back();
  kept.probability_sums = std::move(region.sums);
  found_.regions.push_back(std::move(kept));
}

SlideFindings SlideFindingsBuilder::finish() {
  regions_.finish();
  foci_.finish();
  for (const std::uint64_t px : found_.areas.px) {
    if (const auto mm2 = found_.facts.area_mm2(px)) found_.areas.mm2.push_back(*mm2);
  }
  for (TissuePiece& piece : pieces_.finish()) {
    if (piece.tissue_px < least_px_) {
      leave_out(piece.tissue_px, found_.small_pieces);
    } else {
      found_.pieces.push_back(piece);
    }
  }
  found_.grade = cancer_grade(found_.areas.px, found_.facts.rule);
  found_.equivocal = find_equivocal(found_.facts, found_.areas.px, found_.regions);
  return std::move(found_);
}

}  // namespace headrace::predict
