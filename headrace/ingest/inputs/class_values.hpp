#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace headrace::ingest {

/// What the option of classes states: "tumour", "tumour=2" (a mask's value), "organ=1+2+3" (several
/// values), "tumour=Tumor|_0" (other names of it).
struct GivenClasses {
  std::vector<std::string> names;  ///< by label value
  /// Other names that stand for a class, as written; of no class more than once.
  std::vector<std::vector<std::string>> texts;
  /// The label value of a mask's value, or kIgnoreLabel. Empty where no values are stated: then a
  /// value is a label value.
  std::map<std::uint32_t, std::uint8_t> values;

  bool states_values() const noexcept { return !values.empty(); }
  /// The label value of a mask's value where values are stated; else nothing.
  std::optional<std::uint8_t> label_of(std::uint32_t value) const;
};

/// Where values are stated, all classes but the background state theirs; 0 is background unless it
/// is stated, "background" comes first where it is not among the names, 255 is ignore unless it is
/// stated, and "ignore=4+5" makes other values that, also where classes state none and their label
/// values are those of the mask. Errors: usage (names or values twice, a class
/// without value beside others that have one, values that are no whole numbers); `option` names the
/// option.
GivenClasses given_classes(const std::vector<std::string>& given, const std::string& option);

/// Values of a mask that are none of its classes, each with its number of pixels or voxels, as a
/// clause: "3 (1200 pixels), 7 (5 pixels)"; the most frequent first, at most 12 of them.
/// counts: by value. unit: "pixels", "voxels".
std::string listed_values(const std::map<std::uint32_t, std::uint64_t>& counts,
                          const std::string& unit);

}  // namespace headrace::ingest
