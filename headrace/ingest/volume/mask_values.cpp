#include "headrace/ingest/volume/mask_values.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <set>

#include "headrace/core/error.hpp"
#include "headrace/core/ignore_label.hpp"
#include "headrace/core/option_name.hpp"

namespace headrace::ingest {
namespace {

using imaging::LabelVolume;

constexpr std::size_t kValues = 65536;
constexpr int kNoClass = -1;

/// What each value of a mask means, and whether it occurs.
struct Values {
  std::array<int, kValues> class_of;
  std::array<bool, kValues> seen{};
  bool ignore_stated = false;  ///< that 255 is ignore

  Values() { class_of.fill(kNoClass); }
};

std::unique_ptr<Values> values_of(const VolumeCase& volume, const LabelVolume& labels) {
  auto values = std::make_unique<Values>();
  const std::string kind = "value ";
  for (const auto& [key, label] : volume.coding) {
    if (!key.starts_with(kind)) continue;
    values->class_of[static_cast<std::size_t>(std::stoi(key.substr(kind.size())))] = label;
  }
  values->ignore_stated =
      std::any_of(volume.coding.begin(), volume.coding.end(),
                  [](const auto& rule) { return rule.first == "ignore stated"; });
  for (const std::uint16_t value : labels.voxels) values->seen[value] = true;
  return values;
}

std::size_t voxels_of_value(const LabelVolume& labels, std::size_t value) {
  return static_cast<std::size_t>(std::count(labels.voxels.begin(), labels.voxels.end(), value));
}

/// A voxel of the value as (x, y, z) in the mask's own grid, where its author can find it.
std::string first_voxel(const LabelVolume& labels, const imaging::VolumeGrid& mask,
                        std::size_t value) {
  const auto found = std::find(labels.voxels.begin(), labels.voxels.end(), value);
  const auto i = static_cast<std::size_t>(found - labels.voxels.begin());
  const auto width = static_cast<std::size_t>(labels.grid.shape_zyx[2]);
  const auto slice = static_cast<std::size_t>(labels.grid.slice_voxels());
  const imaging::Vec3 point =
      labels.grid.to_lps_mm(static_cast<double>(i % width), static_cast<double>(i % slice / width),
                            static_cast<double>(i / slice));
  const imaging::Vec3 voxel = mask.to_index(point);
  return fmt::format("voxel (x {}, y {}, z {})", std::lround(voxel[0]), std::lround(voxel[1]),
                     std::lround(voxel[2]));
}

/// All values without a class at once.
void check_values(const Values& values, const std::string& path, const LabelVolume& labels,
                  const imaging::VolumeGrid& mask) {
  constexpr std::size_t kShown = 12;
  std::vector<std::size_t> unknown, known;
  for (std::size_t v = 0; v < kValues; ++v) {
    if (values.class_of[v] != kNoClass) known.push_back(v);
    if (values.class_of[v] == kNoClass && values.seen[v]) unknown.push_back(v);
  }
  if (unknown.empty()) return;
  std::vector<std::string> counts, classes;
  for (const std::size_t v : unknown) {
    if (counts.size() < kShown)
      counts.push_back(fmt::format("{} in {} voxels", v, voxels_of_value(labels, v)));
  }
  for (const std::size_t v : known) {
    if (classes.size() < kShown && v != kIgnoreLabel) classes.push_back(std::to_string(v));
  }
  fail(
      ErrorCode::malformed,
      "{}: value {} at {} has no class; values without one: {}{}; classes have the values {}{} and "
      "{} (ignore). Name every value by {} (NAME=2, or NAME=2+3 for several), or correct the mask.",
      path, unknown.front(), first_voxel(labels, mask, unknown.front()), fmt::join(counts, ", "),
      unknown.size() > kShown ? ", …" : "", fmt::join(classes, ", "),
      known.size() > kShown + 1 ? ", …" : "", kIgnoreLabel, Option{"classes"});
}

/// What 255 is in a mask without another value but 0.
void settle_255(const VolumeCase& volume, const std::string& path, const Accepted& accepted,
                Values& values, LabelVolume& labels) {
  if (!values.seen[kIgnoreLabel] || values.class_of[kIgnoreLabel] != kIgnoreLabel) return;
  if (values.ignore_stated || accepts(accepted, Doubt::ignore_only)) return;
  for (std::size_t v = 1; v < kValues; ++v) {
    if (v != kIgnoreLabel && values.seen[v]) return;
  }
  const auto voxels = static_cast<double>(voxels_of_value(labels, kIgnoreLabel));
  if (volume.mask_peers && volume.mask_peers->have_classes()) {
    labels.notes.push_back(imaging::make_note(imaging::NoteCode::mask_255_ignored, {voxels}));
    return;
  }
  std::set<int> classes;
  for (const int label : values.class_of) {
    if (label > 0 && label != kIgnoreLabel) classes.insert(label);
  }
  if (classes.size() == 1 && values.seen[0]) {
    values.class_of[kIgnoreLabel] = *classes.begin();
    labels.notes.push_back(imaging::make_note(imaging::NoteCode::mask_of_255, {voxels}));
    return;
  }
  refuse_unless(
      accepted, Doubt::ignore_only, ErrorCode::malformed,
      fmt::format(
          "{}: the mask has no values but {}255, in {:.0f} voxels, which would all be ignore "
          "and teach nothing; if it is a class, say which ({} background,NAME=255)",
          path, values.seen[0] ? "0 and " : "", voxels, Option{"classes"}));
}

}  // namespace

void code_values_of_mask(const VolumeCase& volume, const std::string& path,
                         const imaging::VolumeGrid& mask, const Accepted& accepted,
                         LabelVolume& labels) {
  const auto values = values_of(volume, labels);
  check_values(*values, path, labels, mask);
  settle_255(volume, path, accepted, *values, labels);
  for (std::uint16_t& voxel : labels.voxels)
    voxel = static_cast<std::uint16_t>(values->class_of[voxel]);
}

}  // namespace headrace::ingest
