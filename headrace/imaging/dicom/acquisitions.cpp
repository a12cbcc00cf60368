#include "headrace/imaging/dicom/acquisitions.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>

#include "headrace/core/error.hpp"

namespace headrace::imaging {
namespace {

constexpr double kSamePlaceMm = 1e-3;

constexpr std::array<const char*, AcquisitionKeys::count> kWords{
    "AcquisitionNumber", "temporal position", "heart phase",
    "acquisition time",  "ConvolutionKernel", "KVP",
    "ImageType",         "SliceThickness",    "StackID"};

/// A header's value: as a number where it is one, so that 10 comes after 9.
struct Value {
  double number = 0;
  std::string text;

  explicit Value(const std::string& from) : text(from) {
    char* end = nullptr;
    const double parsed = std::strtod(from.c_str(), &end);
    if (end != from.c_str() && *end == '\0' && std::isfinite(parsed)) number = parsed;
  }
  auto operator<=>(const Value&) const = default;
};

using Values = std::vector<Value>;  ///< of one slice
using Groups = std::map<Values, std::vector<std::size_t>>;

Groups group(const std::vector<Values>& values) {
  Groups groups;
  for (std::size_t i = 0; i < values.size(); ++i) groups[values[i]].push_back(i);
  return groups;
}

/// Slices that lie where another of their group does.
std::size_t doubled(const Groups& groups, const std::vector<double>& along_mm) {
  // Pictures of one place beside a stack are the monitoring of a bolus; of many groups in one place
  // each is not: their slices are several reconstructions of it.
  constexpr std::size_t kMostMonitorings = 2;
  std::size_t found = 0, in_one_place = 0, monitoring = 0;
  for (const auto& [values, slices] : groups) {
    std::vector<double> places;
    for (const std::size_t i : slices) places.push_back(along_mm[i]);
    std::sort(places.begin(), places.end());
    std::size_t here = 0;
    for (std::size_t i = 1; i < places.size(); ++i)
      here += places[i] - places[i - 1] < kSamePlaceMm ? 1 : 0;
    const bool one_place = here > 0 && here + 1 == places.size();
    (one_place ? monitoring : found) += here;
    in_one_place += one_place ? 1 : 0;
  }
  const bool beside = in_one_place < groups.size() && in_one_place <= kMostMonitorings;
  return beside ? found : found + monitoring;
}

std::size_t smallest(const Groups& groups) {
  std::size_t size = ~std::size_t{0};
  for (const auto& [values, slices] : groups) size = std::min(size, slices.size());
  return size;
}

AcquisitionSplit split_of(const Groups& groups, std::size_t slices, std::string told_by) {
  AcquisitionSplit split;
  split.parts = groups.size();
  split.part_of.resize(slices);
  split.told_by = std::move(told_by);
  std::size_t part = 0;
  for (const auto& [values, of_part] : groups) {
    for (const std::size_t i : of_part) split.part_of[i] = part;
    ++part;
  }
  return split;
}

/// By InstanceNumber, where every place has as many slices as any other: the first of each place is
/// of the first part.
std::optional<Groups> by_instance(const std::vector<double>& along_mm,
                                  const std::vector<AcquisitionKeys>& keys) {
  std::vector<std::size_t> order(along_mm.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (!keys[i].instance) return std::nullopt;
    order[i] = i;
  }
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return along_mm[a] < along_mm[b]; });
  Groups groups;
  std::size_t each = 0;
  for (auto first = order.begin(); first != order.end();) {
    const auto last = std::find_if(first, order.end(), [&](std::size_t i) {
      return along_mm[i] - along_mm[*first] >= kSamePlaceMm;
    });
    std::sort(first, last,
              [&](std::size_t a, std::size_t b) { return *keys[a].instance < *keys[b].instance; });
    const auto here = static_cast<std::size_t>(last - first);
    if (each == 0) each = here;
    if (here != each) return std::nullopt;
    const auto equal = std::adjacent_find(first, last, [&](std::size_t a, std::size_t b) {
      return *keys[a].instance == *keys[b].instance;
    });
    if (equal != last) return std::nullopt;  // frames of one file, whose order says nothing
    for (std::size_t part = 0; part < here; ++part) {
      Value number("");
      number.number = static_cast<double>(part);
      groups[{number}].push_back(first[static_cast<std::ptrdiff_t>(part)]);
    }
    first = last;
  }
  return groups;
}

/// Whether groups lie in the same stretch of the body, between each other's slices: two scans that
/// were shifted against each other, not one that was made in pieces.
bool interleaved(const Groups& groups, const std::vector<double>& along_mm) {
  constexpr std::size_t kMostGroups = 8, kLeast = 4;
  if (groups.size() < 2 || groups.size() > kMostGroups || smallest(groups) < kLeast) return false;
  std::vector<std::vector<double>> places;
  for (const auto& [values, slices] : groups) {
    auto& own = places.emplace_back();
    for (const std::size_t i : slices) own.push_back(along_mm[i]);
    std::sort(own.begin(), own.end());
  }
  for (std::size_t a = 0; a < places.size(); ++a) {
    for (std::size_t b = 0; b < places.size(); ++b) {
      if (a == b) continue;
      const auto inside = std::count_if(places[a].begin(), places[a].end(), [&](double place) {
        return place > places[b].front() && place < places[b].back();
      });
      if (2 * static_cast<std::size_t>(inside) > places[a].size()) return true;
    }
  }
  return false;
}

}  // namespace

AcquisitionSplit split_acquisitions(const std::vector<double>& along_mm,
                                    const std::vector<AcquisitionKeys>& keys) {
  constexpr std::size_t kLeast = 2;
  const std::size_t slices = along_mm.size();
  const AcquisitionSplit whole{1, std::vector<std::size_t>(slices), ""};
  std::vector<Values> values(slices);
  std::size_t left = doubled(group(values), along_mm);
  const bool several = left > 0;
  std::vector<std::string> words;
  for (int key = 0; key < AcquisitionKeys::count; ++key) {
    std::vector<Values> further = values;
    for (std::size_t i = 0; i < slices; ++i)
      further[i].emplace_back(keys[i].values[static_cast<std::size_t>(key)]);
    const Groups groups = group(further);
    if (groups.size() < 2 || smallest(groups) < kLeast) continue;
    if (!several) {
      // Times differ from slice to slice, and the kind of picture may within one scan.
      const bool may = key <= AcquisitionKeys::time_point || key == AcquisitionKeys::kernel ||
                       key == AcquisitionKeys::voltage || key == AcquisitionKeys::thickness;
      const bool tells = may && interleaved(groups, along_mm);
      if (tells) return split_of(groups, slices, kWords[static_cast<std::size_t>(key)]);
      continue;
    }
    const std::size_t still = doubled(groups, along_mm);
    if (still >= left) continue;
    left = still;
    values = std::move(further);
    words.emplace_back(kWords[static_cast<std::size_t>(key)]);
    if (left == 0) return split_of(groups, slices, fmt::format("{}", fmt::join(words, " and ")));
  }
  if (!several) return whole;
  const auto groups = by_instance(along_mm, keys);
  const bool tells = groups && groups->size() > 1 && smallest(*groups) >= kLeast;
  return tells ? split_of(*groups, slices, "InstanceNumber") : whole;
}

}  // namespace headrace::imaging
