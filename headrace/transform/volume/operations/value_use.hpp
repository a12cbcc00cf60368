#pragma once
#include <optional>

#include "headrace/core/intensity_unit.hpp"

namespace headrace::transform {

/// Intensities that are known before the patch is read: of the patient's body, or under the labels
/// of the training set.
enum class StatsSource { none, patient, foreground };

/// What an operation on volumes asks of the values that come to it, and leaves of them: which
/// channels it works on, and where in the list it may stand, follow from it.
struct ValueUse {
  bool needs_unit = false;                 ///< it works on values in the channel's unit
  bool leaves_unit = false;                ///< its output no longer has that unit
  std::optional<IntensityUnit> only = {};  ///< it is for channels in this unit
  StatsSource statistics = StatsSource::none;
};

}  // namespace headrace::transform
