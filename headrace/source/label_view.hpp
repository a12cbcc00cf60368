#pragma once
#include <cstdint>
#include <span>
#include <string>

#include "headrace/source/cohort.hpp"

namespace headrace::source {

/// How the stored labels of one image are seen, by training and judging alike: label 0 as ignore
/// where nothing is known outside of what is annotated, then classes by the names of whoever looks
/// (Cohort::class_match). It refers to the cohort.
class LabelView {
 public:
  /// `labels`: the label set; `outside_ignored`: label 0 of an image that has annotations of it
  /// says nothing (data.outside: ignore); an image known to be negative stays background. Reads the
  /// index where it has to. Errors: as Cohort::label_sites.
  LabelView(const Cohort& cohort, std::size_t image, const std::string& labels,
            bool outside_ignored);

  bool keeps_values() const noexcept { return !outside_ignored_ && !relabels_; }
  /// Stored values into those that are seen, in place.
  void apply(std::span<std::uint8_t> labels) const noexcept;

 private:
  const ClassMatch* match_;
  bool outside_ignored_, relabels_;
};

}  // namespace headrace::source
