#include "learn/measure/slide/object_counts.hpp"

#include <cmath>

#include "learn/measure/base/ratio.hpp"

namespace headrace::measure {
namespace {

constexpr double kStep = 1.0 / 4294967296.0;

}  // namespace

ObjectCounts& ObjectCounts::operator+=(const ObjectCounts& other) {
  matched += other.matched;
  missed += other.missed;
  invented += other.invented;
  iou_sum += other.iou_sum;
  return *this;
}

std::optional<double> ObjectCounts::f1() const {
  return ratio(2 * matched, 2 * matched + missed + invented);
}

std::optional<double> ObjectCounts::segmentation_quality() const {
  if (matched == 0) return std::nullopt;
  return static_cast<double>(iou_sum) * kStep / static_cast<double>(matched);
}

std::optional<double> ObjectCounts::panoptic_quality() const {
  const std::uint64_t all = 2 * matched + missed + invented;
  if (all == 0) return std::nullopt;
  return 2 * static_cast<double>(iou_sum) * kStep / static_cast<double>(all);
}

Json ObjectCounts::to_json() const {
  return {{"matched", matched},
          {"missed", missed},
          {"invented", invented},
          {"f1", or_null(f1())},
          {"sq", or_null(segmentation_quality())},
          {"pq", or_null(panoptic_quality())}};
}

ObjectCounts ObjectCounts::from_json(const Json& json) {
  ObjectCounts out;
  out.matched = json.at("matched");
  out.missed = json.at("missed");
  out.invented = json.at("invented");
  if (out.matched == 0) return out;
  // sq is their mean in steps of 2^-32, rounded to a double: exact below 2^21 matches.
  const double sum = json.at("sq").get<double>() * static_cast<double>(out.matched) / kStep;
  out.iou_sum = static_cast<std::uint64_t>(std::llround(sum));
  return out;
}

}  // namespace headrace::measure
