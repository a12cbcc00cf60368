#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "headrace/core/class_sets.hpp"
#include "learn/measure/base/calibration.hpp"
#include "learn/measure/base/confusion.hpp"
#include "learn/measure/base/roc.hpp"
#include "learn/measure/slide/object_counts.hpp"
#include "learn/measure/slide/object_matcher.hpp"
#include "learn/measure/slide/pixel_counts.hpp"
#include "learn/measure/slide/tumour_rule.hpp"

namespace headrace::measure {

/// The rules for the evaluation of slides.
struct SlideRules : TumourRule {
  std::vector<ClassSet> class_sets;
  std::vector<bool> untold;  ///< by class: the evaluated store has no name for it; empty: no such
                             ///< class
  double specificity = 0.9;  ///< at which the sensitivity for slides and cases is read off

  /// Regions whose structures are counted: each class above 0, and last the tumour.
  std::size_t regions() const { return classes.size(); }
  std::vector<bool> region(std::size_t r) const;
  /// Whether labels have no name for any class of a region: then it has no figures.
  bool region_untold(std::size_t r) const;
  /// The same for not tumour and tumour, in the form for Confusion.
  std::vector<bool> tumour_untold() const { return {false, region_untold(regions() - 1)}; }
};

/// The counts of one slide. Integers, so sums over slides do not depend on their order.
struct SlideCounts {
  explicit SlideCounts(const SlideRules& rules)
      : confusion(rules.classes.size(), rules.untold),
        predicted_px(rules.classes.size()),
        truth_px(rules.classes.size() + rules.class_sets.size()),
        tumour(2, rules.tumour_untold()),
        objects(rules.regions()) {}

  std::uint64_t set_px() const;             ///< annotated pixels whose label is a class set
  Confusion confusion;                      ///< pixels that have a plain class and lie under a tile
  std::vector<std::uint64_t> predicted_px;  ///< by class, all pixels under a tile
  std::vector<std::uint64_t> truth_px;      ///< by label value, annotated pixels under a tile
  Confusion tumour;                   ///< not tumour, tumour: pixels whose label decides about it
  ScoreCounts scores;                 ///< of the tumour's probability, rounded; the same pixels
  std::optional<double> auc;          ///< of the exact scores
  Calibration calibration;            ///< all annotated pixels under a tile
  std::vector<ObjectCounts> objects;  ///< by region
};

/// A row of a slide. Everything but `y` has one entry a pixel.
struct SlideRow {
  std::int64_t y = 0;
  std::span<const std::uint8_t> predicted;  ///< class; 255 where nothing was predicted
  std::span<const std::uint8_t> truth;      ///< class or class set; 255 not annotated
  /// (classes, x); of pixels with a prediction not negative, not all 0. Empty: not known, and then
  /// there are neither scores nor calibration.
  std::span<const float> probabilities;
};

/// Counts one slide, row by row. Only a few rows of pixels are kept.
class SlideMeter {
 public:
  explicit SlideMeter(SlideRules rules);
  /// A row, from the top down. Errors: malformed (a label that is neither class, set nor ignore);
  /// `image` names the slide in it.
  void add(const SlideRow& row, const std::string& image);
  /// The same in two: only the structures of a row, and what was counted elsewhere of the pixels of
  /// the slide's rows. Errors of the first: those of add.
  void add_structures(const SlideRow& row, const std::string& image);
  void add_counts(const PixelCounts& counts);
  /// Counts since the last call.
  SlideCounts finish();
  /// The exact scores of the slide that `finish` was called for last.
  const ScoreCounts& exact_scores() const noexcept { return exact_; }

 private:
  void check(const SlideRow& row, const std::string& image) const;
  void add_pixels(const SlideRow& row);
  void match_structures(const SlideRow& row);

  SlideRules rules_;
  SlideCounts counts_;
  std::vector<ClassMask> true_classes_;              ///< by label value; none: no statement
  std::vector<std::vector<Membership>> membership_;  ///< by region, by label value
  std::vector<ObjectMatcher> matchers_;              ///< by region
  ScoreCounter scores_;
  ScoreCounts exact_;
  std::vector<Membership> truth_row_;
  std::vector<std::uint8_t> predicted_row_;
};

/// Part of the tissue (all pixels under a tile but class 0; where every class above 0 is tumour,
/// all of them) that is predicted to be tumour: a slide's or a case's score. 0 without tissue.
double tumour_share(const std::vector<std::uint64_t>& predicted_px, const SlideRules& rules);

/// Whether the annotated pixels hold cancer: tumour in at least min_cancer of the annotated tissue
/// for task grading, any for task segmentation. None without annotation, and where only undecided
/// labels could hold cancer.
std::optional<bool> annotated_cancer(const std::vector<std::uint64_t>& truth_px,
                                     const SlideRules& rules);

/// The grade from annotated areas. None without annotation, and where there is cancer of an unknown
/// pattern.
std::optional<GleasonGrade> annotated_grade(const std::vector<std::uint64_t>& truth_px,
                                            const SlideRules& rules);

}  // namespace headrace::measure
