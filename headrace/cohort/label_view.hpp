#pragma once
#include <cstdint>
#include <span>
#include <string>

#include "headrace/cohort/cohort.hpp"

namespace headrace::cohort {

/// How training and evaluation read the stored labels of one image: label 0 becomes ignore where
/// nothing is known outside the annotations, then classes are mapped by name (Cohort::class_match).
/// It refers to the cohort.
class LabelView {
 public:
  /// `labels`: the label set; `outside_ignored`: label 0 of an annotated image is ignore
  /// (data.outside: ignore); an image known to be negative stays background. Reads the index where
  /// it has to. Errors: as Cohort::label_sites.
  LabelView(const Cohort& cohort, std::size_t image, const std::string& labels,
            bool outside_ignored);

  bool keeps_values() const noexcept { return !outside_ignored_ && !relabels_; }
  /// Turns stored values into the mapped ones, in place.
  void apply(std::span<std::uint8_t> labels) const noexcept;

 private:
  const ClassMatch* match_;
  bool outside_ignored_, relabels_;
};

}  // namespace headrace::cohort
