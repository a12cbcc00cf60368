#include "headrace/imaging/dicom/slice_stack.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

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

std::optional<Note> missing_fault(const StackFindings& findings,
                                  const std::vector<SlicePlace>& places, const Steps& steps) {
  double missing = 0;
  std::size_t first = 0;
  for (std::size_t i = 0; i < steps.all.size(); ++i) {
    if (steps.all[i] < kSamePlaceMm) continue;
    const double gaps = steps.all[i] / findings.spacing_mm;
    const double whole = std::round(gaps);
    if (whole < 2 || std::abs(gaps - whole) > kSpacingTolerance * whole) continue;
    if (missing == 0) first = i;
    missing += whole - 1;
  }
  if (missing == 0) return std::nullopt;
  return make_note(NoteCode::slices_missing, {missing, missing + static_cast<double>(places.size()),
                                              static_cast<double>(first), places[first].along_mm,
                                              static_cast<double>(first + 1),
                                              places[first + 1].along_mm, findings.spacing_mm});
}

std::optional<Note> uneven_fault(const StackFindings& findings, const Steps& steps) {
  for (std::size_t i = 0; i < steps.all.size(); ++i) {
    if (steps.all[i] < kSamePlaceMm) continue;
    if (std::abs(steps.all[i] - findings.spacing_mm) <= kSpacingTolerance * findings.spacing_mm)
      continue;
    const auto [low, high] = std::minmax_element(steps.good.begin(), steps.good.end());
    return make_note(NoteCode::slices_uneven, {*low, *high, static_cast<double>(i),
                                               static_cast<double>(i + 1), findings.spacing_mm});
  }
  return std::nullopt;
}

/// Not std::hypot, whose symbol glibc 2.34 lacks.
double shift_of(const SlicePlace& place) {
  return std::sqrt(place.shift_x_mm * place.shift_x_mm + place.shift_y_mm * place.shift_y_mm);
}

std::optional<Note> shift_fault(StackFindings& findings, const std::vector<SlicePlace>& places,
                                double pixel_mm) {
  double shift = 0;
  for (const SlicePlace& place : places) {
    shift = std::max(shift, shift_of(place));
  }
  if (shift <= kShiftTolerancePx * pixel_mm) return std::nullopt;
  const double along = places.back().along_mm - places.front().along_mm;
  const double drift = shift_of(places.back());
  constexpr double kDegrees = 57.29577951308232;
  findings.tilt_deg = along > 0 ? std::atan2(drift, along) * kDegrees : 90;
  return make_note(NoteCode::slices_shifted, {shift, findings.tilt_deg, findings.spacing_mm});
}

}  // namespace

StackFindings examine_stack(const std::vector<SlicePlace>& places, double pixel_mm) {
  StackFindings findings;
  if (places.size() < 2) return findings;
  const Steps steps = steps_of(places);
  for (std::size_t i = 0; i < steps.all.size(); ++i) {
    if (steps.all[i] < kSamePlaceMm) findings.doubled.push_back(i + 1);
  }
  if (!steps.good.empty()) findings.spacing_mm = median(steps.good);
  auto& faults = findings.faults;
  if (const auto missing = missing_fault(findings, places, steps)) faults.push_back(*missing);
  const bool complete = faults.empty();
  if (!findings.doubled.empty()) {
    const std::size_t i = findings.doubled.front();
    faults.push_back(
        make_note(NoteCode::slices_doubled,
                  {static_cast<double>(findings.doubled.size()), static_cast<double>(i - 1),
                   static_cast<double>(i), places[i].along_mm, findings.spacing_mm}));
  }
  if (complete) {
    if (const auto uneven = uneven_fault(findings, steps)) faults.push_back(*uneven);
  }
  if (const auto shifted = shift_fault(findings, places, pixel_mm)) faults.push_back(*shifted);
  return findings;
}

std::string text_of(const StackFindings& findings, const std::vector<std::string>& names) {
  const auto name = [&](double slice) { return names.at(static_cast<std::size_t>(slice)); };
  std::string text;
  for (const Note& fault : findings.faults)
    text += (text.empty() ? "" : "; ") + fault_text(fault, name);
  return text;
}

}  // namespace headrace::imaging
