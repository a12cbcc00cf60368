#pragma once
#include <optional>
#include <string>

namespace headrace::measure {

/// What is stated about an evaluated image: by these its figures are grouped.
struct ImageFacts {
  std::string id, case_id;
  /// Groups that it is in; none: in no group of that kind. An empty name is a group, too.
  std::optional<std::string> cohort, scanner;
};

}  // namespace headrace::measure
