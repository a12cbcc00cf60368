#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "headrace/core/enum_names.hpp"
#include "learn/predict/slide/cancer_grade.hpp"
#include "learn/predict/slide/slide_facts.hpp"
#include "learn/predict/slide/tissue_pieces.hpp"

namespace headrace::predict {

/// A connected part (4 neighbours) of the pixels of one class. Sums are integers, so means follow
/// from them in the same way everywhere.
struct SlideRegion {
  std::uint32_t number = 0;  ///< from 1, in the order in which regions end (RegionTracer)
  std::uint8_t label = 0;    ///< its class
  std::uint64_t pixels = 0;
  std::int64_t y0 = 0, x0 = 0, y1 = 0, x1 = 0;  ///< box: rows [y0, y1), columns [x0, x1)
  std::array<std::uint64_t, 2> doubled_yx{};    ///< sums of 2·(index + 0.5)
  std::vector<std::uint64_t> probability_sums;  ///< by class, in steps of 1/255
  std::uint64_t entropy_sum = 0;                ///< in steps of 1/255 (PixelScores)

  double mean_probability(std::size_t c) const;  ///< 0 to 1
  double mean_entropy() const;                   ///< 0 (certain) to 1 (all classes alike)
};

/// What is in doubt about a region.
enum class DoubtAbout { its_class, tumour };

/// A tumour region that may be something else.
///
/// Its doubt is 1 - (first - second) / (first + second), at most 1. About its class, first is the
/// region's mean probability of its own class, and second the greatest of the others (task grading:
/// of the other tumour classes). About tumour (task grading), first and second are the sums of the
/// mean probabilities of all tumour classes, and of all others.
struct EquivocalRegion {
  std::size_t region = 0;  ///< index in SlideFindings::regions
  DoubtAbout about = DoubtAbout::its_class;
  std::uint8_t second = 0;  ///< the class that it may be; of what is not tumour the most probable
  double doubt = 0;
  double first_probability = 0, second_probability = 0;
  /// Task grading: the slide's grade group as it is, and if the region's area were of class
  /// `second`.
  int grade_group = 0, second_grade_group = 0;

  bool changes_grade() const noexcept { return grade_group != second_grade_group; }
};

/// Regions or pieces that are too small to be listed.
struct LeftOut {
  std::uint64_t count = 0, pixels = 0;
};

/// What a pathologist gets for a slide. No part of it depends on threads.
struct SlideFindings {
  SlideFacts facts;
  ClassAreas areas{};
  std::optional<CancerGrade> grade{};  ///< task grading
  std::vector<SlideRegion> regions{};  ///< of the classes above 0, by number
  LeftOut small_regions{};             ///< below SlideFacts::least_region_px
  /// First those that would change the grade group, and in both parts by falling doubt · area.
  std::vector<EquivocalRegion> equivocal{};
  /// By their first cell. Tumour of any class counts for a focus (4 neighbours), and foci below
  /// SlideFacts::least_region_px don't count: stray pixels are no length of tumour.
  std::vector<TissuePiece> pieces{};
  LeftOut small_pieces{};  ///< below SlideFacts::least_region_px of tissue

  /// Sum over the pieces of the greatest distance between two corners of tumour pixels, and the
  /// greatest of them, in pixels of the map.
  double tumour_length_px() const;
  double longest_tumour_px() const;
  std::uint64_t foci() const;
};

}  // namespace headrace::predict

namespace headrace {

template <>
inline constexpr auto kNamesOf<predict::DoubtAbout> = names<predict::DoubtAbout>(
    {{predict::DoubtAbout::its_class, "class"}, {predict::DoubtAbout::tumour, "tumour"}});

}  // namespace headrace
