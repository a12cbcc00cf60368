#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "headrace/core/error.hpp"
#include "headrace/core/option_name.hpp"
#include "headrace/imaging/dicom/dicom_labels.hpp"
#include "headrace/ingest/volume/volume_files.hpp"
#include "headrace/ingest/volume/volume_inputs.hpp"

namespace headrace::ingest {
namespace {

using imaging::LabelVolume;

constexpr std::size_t kValues = 65536;
constexpr int kNoClass = -1;
using ValueTable = std::array<int, kValues>;

/// voxel: (x, y, z) in the mask's own grid, where its author can find it.
[[noreturn]] void no_class(const std::string& path, std::uint16_t value, const imaging::Vec3& voxel,
                           const ValueTable& table) {
  std::vector<int> known;
  for (std::size_t v = 0; v < kValues; ++v) {
    if (table[v] != kNoClass) known.push_back(static_cast<int>(v));
  }
  constexpr std::size_t kShown = 12;
  const bool more = known.size() > kShown;
  if (more) known.resize(kShown);
  fail(ErrorCode::malformed,
       "{}: value {} at voxel (x {}, y {}, z {}) has no class; classes have the "
       "values {}{} and {} (ignore). Name every value by {}, or correct the mask.",
       path, value, std::lround(voxel[0]), std::lround(voxel[1]), std::lround(voxel[2]),
       fmt::join(known.begin(), known.end() - (more ? 0 : 1), ", "), more ? ", …" : "",
       kIgnoreLabel, Option{"classes"});
}

/// Turns values of the file into classes, in place. mask: the file's own grid, for error texts.
void code(const std::string& path, const ValueTable& table, const imaging::VolumeGrid& mask,
          LabelVolume& labels) {
  const auto width = static_cast<std::size_t>(labels.grid.shape_zyx[2]);
  const auto slice = static_cast<std::size_t>(labels.grid.slice_voxels());
  for (std::size_t i = 0; i < labels.voxels.size(); ++i) {
    const int value = table[labels.voxels[i]];
    if (value == kNoClass) {
      const imaging::Vec3 point = labels.grid.to_lps_mm(static_cast<double>(i % width),
                                                        static_cast<double>(i % slice / width),
                                                        static_cast<double>(i / slice));
      no_class(path, labels.voxels[i], mask.to_index(point), table);
    }
    labels.voxels[i] = static_cast<std::uint16_t>(value);
  }
}

std::map<std::string, int> rules_of(const VolumeCase& volume, const std::string& kind) {
  std::map<std::string, int> rules;
  for (const auto& [key, value] : volume.coding) {
    if (key.starts_with(kind)) rules[key.substr(kind.size())] = value;
  }
  return rules;
}

LabelVolume read_mask(const VolumeCase& volume, const std::string& path,
                      const imaging::VolumeGrid& image) {
  const auto mask = imaging::open_volume(path);
  LabelVolume labels = with_context(path, [&] { return imaging::read_label_volume(*mask, image); });
  auto table = std::make_unique<ValueTable>();
  table->fill(kNoClass);
  const auto of_masks = rules_of(volume, "mask ");
  if (const auto organ = of_masks.find(volume_stem(path)); organ != of_masks.end()) {
    table->fill(organ->second);
    (*table)[0] = 0;
  } else {
    for (const auto& [value, label] : rules_of(volume, "value "))
      (*table)[static_cast<std::size_t>(std::stoi(value))] = label;
  }
  code(path, *table, mask->info().grid, labels);
  return labels;
}

LabelVolume read_object(const VolumeCase& volume, const std::string& path,
                        const imaging::VolumeGrid& image) {
  const auto rules = rules_of(volume, "name ");
  const auto wanted = [&](const std::string& name) { return rules.contains(name); };
  const bool segmentation =
      imaging::read_label_names(path).object == imaging::DicomObject::segmentation;
  imaging::DicomLabels labels = segmentation ? imaging::read_dicom_segmentation(path, image, wanted)
                                             : imaging::read_structure_set(path, image, wanted);
  auto table = std::make_unique<ValueTable>();
  table->fill(0);
  for (std::size_t value = 1; value < labels.names.size(); ++value) {
    const auto found = rules.find(labels.names[value]);
    if (found != rules.end()) (*table)[value] = found->second;
  }
  code(path, *table, image, labels.volume);
  return std::move(labels.volume);
}

}  // namespace

imaging::LabelVolume read_case_labels(const VolumeCase& volume, const imaging::VolumeGrid& image) {
  if (volume.labels.empty()) fail(ErrorCode::internal, "image {} has no labels", volume.id);
  LabelVolume merged;
  for (const std::string& path : volume.labels) {
    LabelVolume labels = imaging::is_volume_file(path) ? read_mask(volume, path, image)
                                                       : read_object(volume, path, image);
    if (merged.voxels.empty()) {
      merged = std::move(labels);
      continue;
    }
    for (std::size_t i = 0; i < merged.voxels.size(); ++i) {
      if (labels.voxels[i] != 0) merged.voxels[i] = labels.voxels[i];
    }
    merged.notes.insert(merged.notes.end(), labels.notes.begin(), labels.notes.end());
  }
  return merged;
}

}  // namespace headrace::ingest
