#include "headrace/imaging/dicom/slice_stack.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace headrace::imaging {

Vec3 cross(const Vec3& a, const Vec3& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}

double dot(const Vec3& a, const Vec3& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

std::vector<SlicePlace> place_slices(const std::vector<Vec3>& positions_lps_mm, const Vec3& row,
                                     const Vec3& column) {
  const Vec3 normal = cross(row, column);
  std::vector<SlicePlace> places;
  for (const Vec3& position : positions_lps_mm) {
    const Vec3& first = positions_lps_mm.front();
    const Vec3 offset{position[0] - first[0], position[1] - first[1], position[2] - first[2]};
    places.push_back({dot(position, normal), dot(offset, row), dot(offset, column)});
  }
  return places;
}

namespace {

struct Steps {
  std::vector<double> all;
  std::vector<double> good;  ///< of neighbours that are not doubled
};

constexpr double kSamePlaceMm = 1e-3;

Steps steps_of(const std::vector<SlicePlace>& places) {
  Steps steps;
  for (std::size_t i = 1; i < places.size(); ++i) {
    steps.all.push_back(places[i].along_mm - places[i - 1].along_mm);
    if (steps.all.back() >= kSamePlaceMm) steps.good.push_back(steps.all.back());
  }
  return steps;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

std::string missing_text(const StackFindings& findings, const std::vector<SlicePlace>& places,
                         const Steps& steps, const std::vector<std::string>& names) {
  std::int64_t missing = 0;
  std::string where;
  for (std::size_t i = 0; i < steps.all.size(); ++i) {
    const double gaps = steps.all[i] / findings.spacing_mm;
    const double whole = std::round(gaps);
    if (whole < 2 || std::abs(gaps - whole) > kSpacingTolerance * whole) continue;
    missing += static_cast<std::int64_t>(whole) - 1;
    if (where.empty()) {
      where = fmt::format("first between {} at {:.2f} mm and {} at {:.2f} mm along the normal",
                          names[i], places[i].along_mm, names[i + 1], places[i + 1].along_mm);
    }
  }
  if (missing == 0) return {};
  return fmt::format("{} of {} slices missing ({}), where neighbours are {:.3f} mm apart", missing,
                     missing + static_cast<std::int64_t>(places.size()), where,
                     findings.spacing_mm);
}

std::string uneven_text(const StackFindings& findings, const Steps& steps,
                        const std::vector<std::string>& names) {
  for (std::size_t i = 0; i < steps.all.size(); ++i) {
    if (steps.all[i] < kSamePlaceMm) continue;
    if (std::abs(steps.all[i] - findings.spacing_mm) <= kSpacingTolerance * findings.spacing_mm)
      continue;
    const auto [low, high] = std::minmax_element(steps.good.begin(), steps.good.end());
    return fmt::format(
        "unevenly spaced slices ({:.3f} to {:.3f} mm, median {:.3f} mm, first between {} and {})",
        *low, *high, findings.spacing_mm, names[i], names[i + 1]);
  }
  return {};
}

std::string tilt_text(StackFindings& findings, const std::vector<SlicePlace>& places,
                      double pixel_mm) {
  double shift = 0;
  for (const SlicePlace& place : places) {
    shift = std::max(shift, std::hypot(place.shift_x_mm, place.shift_y_mm));
  }
  if (shift <= kShiftTolerancePx * pixel_mm) return {};
  const double along = places.back().along_mm - places.front().along_mm;
  const double drift = std::hypot(places.back().shift_x_mm, places.back().shift_y_mm);
  constexpr double kDegrees = 57.29577951308232;
  findings.tilt_deg = along > 0 ? std::atan2(drift, along) * kDegrees : 90;
  return fmt::format(
      "slices shifted against each other by up to {:.2f} mm in their plane (gantry tilt {:.1f} "
      "degrees)",
      shift, findings.tilt_deg);
}

}  // namespace

StackFindings examine_stack(const std::vector<SlicePlace>& places, double pixel_mm,
                            const std::vector<std::string>& names) {
  StackFindings findings;
  if (places.size() < 2) return findings;
  const Steps steps = steps_of(places);
  for (std::size_t i = 0; i < steps.all.size(); ++i) {
    if (steps.all[i] < kSamePlaceMm) findings.doubled.push_back(i + 1);
  }
  std::vector<std::string> problems;
  if (!findings.doubled.empty()) {
    const std::size_t i = findings.doubled.front();
    problems.push_back(
        fmt::format("{} slices doubled (first {} and {}, both at {:.2f} mm along the normal)",
                    findings.doubled.size(), names[i - 1], names[i], places[i].along_mm));
  }
  if (!steps.good.empty()) {
    findings.spacing_mm = median(steps.good);
    const std::string missing = missing_text(findings, places, steps, names);
    const std::string uneven =
        missing.empty() ? uneven_text(findings, steps, names) : std::string();
    if (!missing.empty()) problems.insert(problems.begin(), missing);
    if (!uneven.empty()) problems.push_back(uneven);
  }
  const std::string tilt = tilt_text(findings, places, pixel_mm);
  if (!tilt.empty()) problems.push_back(tilt);
  for (const std::string& problem : problems) {
    findings.problem += (findings.problem.empty() ? "" : "; ") + problem;
  }
  return findings;
}

}  // namespace headrace::imaging
