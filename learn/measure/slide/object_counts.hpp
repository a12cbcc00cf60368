#pragma once
#include <cstdint>
#include <optional>

#include "headrace/core/json.hpp"

namespace headrace::measure {

/// Structures found, missed and invented. Sums are integers, so a group is the sum of its images in
/// any order.
struct ObjectCounts {
  std::uint64_t matched = 0, missed = 0, invented = 0;
  std::uint64_t iou_sum = 0;  ///< of the matched, in steps of 2^-32

  ObjectCounts& operator+=(const ObjectCounts& other);

  /// 2·matched / (2·matched + missed + invented), which is the recognition quality. None where
  /// truth and prediction have no structure.
  std::optional<double> f1() const;
  /// Mean IoU of the matched. None without any.
  std::optional<double> segmentation_quality() const;
  /// Panoptic quality: Σ IoU of the matched / (matched + missed/2 + invented/2), which is
  /// segmentation times recognition quality; 0 where nothing matches. None as f1.
  /// source  Kirillov et al., Panoptic segmentation, CVPR 2019
  std::optional<double> panoptic_quality() const;
  /// {matched, missed, invented, f1, sq, pq}; undefined figures are null.
  Json to_json() const;
  /// The counts of which to_json made this.
  static ObjectCounts from_json(const Json& json);
};

}  // namespace headrace::measure
