#pragma once
#include <array>
#include <optional>
#include <string>
#include <vector>

#include "headrace/core/enum_names.hpp"
#include "headrace/core/json.hpp"
#include "headrace/pixels/polygon_raster.hpp"

namespace headrace::view {

/// What a reader thinks of a finding.
enum class VerdictKind {
  accept,  ///< it is there, and of the predicted class
  reject,  ///< there is nothing: background
  reclass  ///< it is there, of another class
};

}  // namespace headrace::view

namespace headrace {
template <>
inline constexpr auto kNamesOf<view::VerdictKind> =
    names<view::VerdictKind>({{view::VerdictKind::accept, "accept"},
                              {view::VerdictKind::reject, "reject"},
                              {view::VerdictKind::reclass, "reclass"}});
}  // namespace headrace

namespace headrace::view {

/// A verdict as the page sends it and as it is stored:
/// {"verdict", "class" (of reclass), "outline": [[[y, x], …], …], "comment", "reviewer", "time"}.
struct Verdict {
  VerdictKind kind = VerdictKind::accept;
  std::string class_name;             ///< of reclass
  std::vector<pixels::Ring> outline;  ///< corrected, pixels of level 0; empty: as predicted
  std::string comment, reviewer, time;

  Json to_json() const;
  /// classes: those that it may name. Errors: usage (what the page sent does not fit).
  static Verdict from_json(const Json& json, const std::vector<std::string>& classes);
};

}  // namespace headrace::view
