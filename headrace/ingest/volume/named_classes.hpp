#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "headrace/core/class_sets.hpp"

namespace headrace::ingest {

/// The classes of a run by their names, and by the values that masks have for them.
struct NamedClasses {
  std::vector<std::string> names;            ///< by label value
  std::map<std::string, int> by_plain_name;  ///< of classes, and the names after '='
  /// Label values by the values of masks, where they are stated; empty: a mask's value is the
  /// label value.
  std::map<int, int> by_mask_value;
  /// Of masks, where it is stated ("ignore=255"); further ones ("ignore=4+5") are in by_mask_value.
  std::optional<int> ignore_value;

  /// Class sets, whose label values follow those of the classes. Errors: usage.
  void add(const std::vector<ClassSet>& sets);
};

/// Reads a list of classes: "NAME", "NAME=Structure|Other structure", "NAME=5" or "NAME=1+2+3" for
/// the values that masks have for it, or both ("NAME=5|Structure"). Where values are stated, they
/// are all that masks may have, besides 0, the background, which needs no entry then, and ignore
/// ("ignore=7" or, where classes state theirs, "ignore=7+8"; not a class). `origin` names the list in errors. Errors: usage.
NamedClasses named_classes(const std::vector<std::string>& given, const std::string& origin);

/// Whether entries of the list state values of masks. Errors: usage.
bool states_values(const std::vector<std::string>& given, const std::string& origin);

/// The list `given` in the order of the classes of a store, each of which has an entry, and new ones
/// after them: for a list that states values, whose order means nothing.
std::vector<std::string> in_order_of(const std::vector<std::string>& stored,
                                     const std::vector<std::string>& given);

}  // namespace headrace::ingest
