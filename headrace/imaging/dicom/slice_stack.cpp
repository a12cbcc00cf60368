#include "headrace/imaging/dicom/slice_stack.hpp"

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
  std::vector<double> good;  ///< of neighbours that are not doubled, ascending
};

constexpr double kSamePlaceMm = 1e-3;

Steps steps_of(const std::vector<SlicePlace>& places) {
  Steps steps;
  for (std::size_t i = 1; i < places.size(); ++i) {
    steps.all.push_back(places[i].along_mm - places[i - 1].along_mm);
    if (steps.all.back() >= kSamePlaceMm) steps.good.push_back(steps.all.back());
  }
  std::sort(steps.good.begin(), steps.good.end());
  return steps;
}

/// Even places: the least squares over all slices.
struct Fit {
  double step_mm = 0, most_off_mm = 0;
};

Fit fit(const std::vector<SlicePlace>& places, const std::vector<std::int64_t>& index) {
  const auto count = static_cast<double>(places.size());
  double mean_index = 0, mean_along = 0;
  for (std::size_t i = 0; i < places.size(); ++i) {
    mean_index += static_cast<double>(index[i]) / count;
    mean_along += places[i].along_mm / count;
  }
  double product = 0, square = 0;
  for (std::size_t i = 0; i < places.size(); ++i) {
    const double from_mean = static_cast<double>(index[i]) - mean_index;
    product += from_mean * (places[i].along_mm - mean_along);
    square += from_mean * from_mean;
  }
  Fit found;
  if (square > 0) found.step_mm = product / square;
  for (std::size_t i = 0; i < places.size(); ++i) {
    const double even = mean_along + found.step_mm * (static_cast<double>(index[i]) - mean_index);
    found.most_off_mm = std::max(found.most_off_mm, std::abs(places[i].along_mm - even));
  }
  return found;
}

/// The decimal to which positions are rounded: 1, 0.1 or 0.01 mm; 0: finer.
double rounded_to_mm(const std::vector<SlicePlace>& places) {
  for (const double unit : {1.0, 0.1, 0.01}) {
    const bool all = std::all_of(places.begin(), places.end(), [&](const SlicePlace& place) {
      const double times = place.along_mm / unit;
      return std::abs(times - std::round(times)) * unit < 1e-6;
    });
    if (all) return unit;
  }
  return 0;
}

/// Whether steps between neighbours differ by no more than rounding makes them.
bool steps_as_rounded(const std::vector<SlicePlace>& places, const std::vector<std::int64_t>& index,
                      double unit_mm) {
  double low = 1e300, high = 0;
  for (std::size_t i = 1; i < places.size(); ++i) {
    if (index[i] - index[i - 1] != 1) continue;
    const double step = places[i].along_mm - places[i - 1].along_mm;
    low = std::min(low, step);
    high = std::max(high, step);
  }
  return high - low < unit_mm * 1.01;
}

/// How far slices may lie off even places. A missing slice puts another at least 0.29 steps off
/// from six slices on, so what a rounding explains is believed below that; above only where the
/// headers state the same distance.
double tolerance_mm(const std::vector<SlicePlace>& places, const std::vector<std::int64_t>& index,
                    const Fit& fit, std::optional<double> stated_mm) {
  constexpr std::size_t kEnough = 6;
  constexpr double kMostOff = 0.25, kAgrees = 0.02, kRounding = 0.6;  // a half, and the fit's own
  const double plain = kFitTolerance * fit.step_mm;
  const double unit = rounded_to_mm(places), rounding = kRounding * unit;
  if (!steps_as_rounded(places, index, unit)) return plain;
  const bool agrees = stated_mm && std::abs(*stated_mm - fit.step_mm) <= kAgrees * *stated_mm;
  const bool clear = places.size() >= kEnough && rounding <= kMostOff * fit.step_mm;
  return agrees || clear ? std::max(plain, rounding) : plain;
}

/// The slice of a grid of this spacing that each stands for.
std::vector<std::int64_t> index_by_steps(const Steps& steps, double spacing_mm) {
  std::vector<std::int64_t> index{0};
  for (const double step : steps.all) {
    const auto whole = static_cast<std::int64_t>(std::llround(step / spacing_mm));
    index.push_back(index.back() + (step < kSamePlaceMm ? 0 : std::max<std::int64_t>(1, whole)));
  }
  return index;
}

std::vector<std::int64_t> index_by_places(const std::vector<SlicePlace>& places,
                                          double spacing_mm) {
  std::vector<std::int64_t> index;
  for (const SlicePlace& place : places)
    index.push_back(std::llround((place.along_mm - places.front().along_mm) / spacing_mm));
  return index;
}

/// A step that occurs, with those that are as long up to the tolerance.
struct StepSize {
  double mm = 0;
  std::size_t count = 0;
};

std::vector<StepSize> step_sizes(const Steps& steps) {
  std::vector<StepSize> sizes;
  for (auto first = steps.good.begin(); first != steps.good.end();) {
    const auto last = std::upper_bound(first, steps.good.end(), *first * (1 + 2 * kFitTolerance));
    sizes.push_back({*(first + (last - first) / 2), static_cast<std::size_t>(last - first)});
    first = last;
  }
  return sizes;
}

/// Finds the even grid on which the slices lie, else one of the finest step that recurs. A step
/// that occurs once may be that of a single slice out of place.
void find_grid(const std::vector<SlicePlace>& places, const Steps& steps,
               std::optional<double> stated_mm, StackFindings& findings) {
  const auto take = [&](double spacing_mm) {
    findings.index = index_by_steps(steps, spacing_mm);
    const Fit fitted = fit(places, findings.index);
    findings.off_mm = fitted.most_off_mm;
    findings.on_grid =
        fitted.most_off_mm <= tolerance_mm(places, findings.index, fitted, stated_mm);
    findings.spacing_mm = (places.back().along_mm - places.front().along_mm) /
                          static_cast<double>(findings.index.back());
    return findings.on_grid;
  };
  if (take(2 * steps.good.back())) return;  // every step is one of the grid
  std::vector<StepSize> sizes = step_sizes(steps);
  // So fine a step is that of two slices meant to lie in one place.
  constexpr double kMostSlices = 8;  // for each that is there
  const double depth = places.back().along_mm - places.front().along_mm;
  std::erase_if(sizes, [&](const StepSize& size) {
    return depth / size.mm > kMostSlices * static_cast<double>(places.size());
  });
  for (const StepSize& size : sizes) {
    if (take(size.mm)) return;
  }
  const auto recurs =
      std::find_if(sizes.begin(), sizes.end(), [](const StepSize& size) { return size.count > 1; });
  findings.spacing_mm = recurs != sizes.end() ? recurs->mm
                        : sizes.empty()       ? steps.good.back()
                                              : sizes.front().mm;
  findings.index = index_by_places(places, findings.spacing_mm);
}

std::optional<Note> missing_fault(const StackFindings& findings,
                                  const std::vector<SlicePlace>& places, const Steps& steps) {
  std::int64_t missing = 0;
  std::size_t first = 0;
  for (std::size_t i = 0; i < steps.all.size(); ++i) {
    if (steps.all[i] < kSamePlaceMm) continue;
    const double gaps = steps.all[i] / findings.spacing_mm;
    std::int64_t whole = findings.index[i + 1] - findings.index[i];
    if (!findings.on_grid) {
      whole = std::llround(gaps);
      const auto expected = static_cast<double>(whole);
      if (std::abs(gaps - expected) > kFitTolerance * expected) continue;
    }
    if (whole < 2) continue;
    if (missing == 0) first = i;
    missing += whole - 1;
  }
  if (missing == 0) return std::nullopt;
  const auto count = static_cast<double>(missing);
  return make_note(NoteCode::slices_missing,
                   {count, count + static_cast<double>(places.size()), static_cast<double>(first),
                    places[first].along_mm, static_cast<double>(first + 1),
                    places[first + 1].along_mm, findings.spacing_mm});
}

std::optional<Note> uneven_fault(const StackFindings& findings, const Steps& steps) {
  if (findings.on_grid || steps.good.empty()) return std::nullopt;
  std::size_t worst = 0;
  for (std::size_t i = 0; i < steps.all.size(); ++i) {
    if (steps.all[i] < kSamePlaceMm) continue;
    const double off = std::abs(steps.all[i] - findings.spacing_mm);
    if (off > kFitTolerance * findings.spacing_mm) {
      worst = i;
      break;
    }
  }
  return make_note(NoteCode::slices_uneven,
                   {steps.good.front(), steps.good.back(), static_cast<double>(worst),
                    static_cast<double>(worst + 1), findings.spacing_mm});
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

StackFindings examine_stack(const std::vector<SlicePlace>& places, double pixel_mm,
                            std::optional<double> stated_mm) {
  StackFindings findings;
  findings.index.resize(places.size());
  if (places.size() < 2) return findings;
  const Steps steps = steps_of(places);
  for (std::size_t i = 0; i < steps.all.size(); ++i) {
    if (steps.all[i] < kSamePlaceMm) findings.doubled.push_back(i + 1);
  }
  if (!steps.good.empty()) find_grid(places, steps, stated_mm, findings);
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

SlicePlaces places_on_grid(const std::vector<SlicePlace>& places, const StackFindings& findings) {
  std::vector<std::optional<double>> offsets(static_cast<std::size_t>(findings.index.back() + 1));
  for (std::size_t i = 0; i < places.size(); ++i) {
    const std::int64_t at = findings.index[i];
    const double off = places[i].along_mm - places.front().along_mm -
                       static_cast<double>(at) * findings.spacing_mm;
    auto& found = offsets[static_cast<std::size_t>(at)];
    if (!found || std::abs(off) < std::abs(*found)) found = off;
  }
  const bool all = std::all_of(offsets.begin(), offsets.end(), [&](const auto& offset) {
    return offset && std::abs(*offset) <= kFitTolerance * findings.spacing_mm;
  });
  if (all) offsets.clear();
  return {2, std::move(offsets)};
}

std::string text_of(const StackFindings& findings, const std::vector<std::string>& names) {
  const auto name = [&](double slice) { return names.at(static_cast<std::size_t>(slice)); };
  std::string text;
  for (const Note& fault : findings.faults)
    text += (text.empty() ? "" : "; ") + fault_text(fault, name);
  return text;
}

}  // namespace headrace::imaging
