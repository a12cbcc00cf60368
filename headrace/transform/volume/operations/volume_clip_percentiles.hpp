#pragma once
#include <string>
#include <string_view>

#include "headrace/core/enum_names.hpp"
#include "headrace/core/fields.hpp"
#include "headrace/transform/volume/operations/value_use.hpp"

namespace headrace::transform {

struct VolumeDraw;

/// Whose percentiles: of the patient's body, or of the labelled voxels of the training set.
enum class PercentilesOf { patient, foreground };

}  // namespace headrace::transform

namespace headrace {
template <>
inline constexpr auto kNamesOf<transform::PercentilesOf> =
    names<transform::PercentilesOf>({{transform::PercentilesOf::patient, "patient"},
                                     {transform::PercentilesOf::foreground, "foreground"}});
}  // namespace headrace

namespace headrace::transform {

/// Clips to percentiles 0.5 and 99.5 of the patient's body, or of the training set's foreground.
struct ClipPercentilesSpec {
  static constexpr std::string_view kName = "clip_percentiles";
  static constexpr bool kOnce = true;

  PercentilesOf of = PercentilesOf::patient;
  std::string channel = {};  ///< the one it is for; empty: every channel

  ValueUse value_use() const;
  Fields fields();
  void draw(VolumeDraw& draw) const;
};

}  // namespace headrace::transform
