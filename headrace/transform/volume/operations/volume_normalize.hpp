#pragma once
#include <string>
#include <string_view>

#include "headrace/core/fields.hpp"
#include "headrace/transform/volume/operations/value_use.hpp"

namespace headrace::transform {

struct VolumeDraw;

/// By whose mean and standard deviation.
enum class NormalizeMethod { none, zscore, foreground, fixed };

}  // namespace headrace::transform

namespace headrace {
template <>
inline constexpr auto kNamesOf<transform::NormalizeMethod> =
    names<transform::NormalizeMethod>({{transform::NormalizeMethod::none, "none"},
                                       {transform::NormalizeMethod::zscore, "zscore"},
                                       {transform::NormalizeMethod::foreground, "foreground"},
                                       {transform::NormalizeMethod::fixed, "fixed"}});
}  // namespace headrace

namespace headrace::transform {

/// (value - mean) / std: of the patient's body, of the foreground (nnU-Net's CT scheme: clips to
/// its percentiles first), of given numbers, or nothing.
struct VolumeNormalizeSpec {
  static constexpr std::string_view kName = "normalize";
  static constexpr bool kOnce = true;

  NormalizeMethod method = NormalizeMethod::none;
  double mean = 0, std = 1;  ///< of method fixed
  std::string channel = {};  ///< the one it is for; empty: every channel

  ValueUse value_use() const;
  Fields fields();
  void draw(VolumeDraw& draw) const;
};

}  // namespace headrace::transform
