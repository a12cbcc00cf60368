#include <algorithm>
#include <map>
#include <set>

#include "headrace/core/error.hpp"
#include "headrace/imaging/dicom/dicom_labels.hpp"
#include "headrace/imaging/volume/slicer_segmentation.hpp"
#include "headrace/ingest/volume/mask_values.hpp"
#include "headrace/ingest/volume/volume_files.hpp"
#include "headrace/ingest/volume/volume_inputs.hpp"

namespace headrace::ingest {
namespace {

using imaging::LabelVolume;
using imaging::NamedLabels;

using Rules = std::map<std::string, int>;  ///< classes by name

/// Those of the case that hold for a file.
Rules rules_of(const VolumeCase& volume, const std::string& kind, const std::string& path) {
  Rules rules;
  for (const auto& [key, value] : volume.coding) {
    if (key.starts_with(kind) && !volume.replaced.contains({path, value}))
      rules[key.substr(kind.size())] = value;
  }
  return rules;
}

/// A class that is named but painted nowhere is no knowledge that there is none.
void check_painted(const VolumeCase& volume, const NamedLabels& labels, const Rules& rules,
                   const Accepted& accepted) {
  if (volume.negative == 1) return;
  std::set<std::size_t> unpainted;
  for (const auto& one : labels.unpainted) unpainted.insert(one.value);
  std::set<int> painted;
  for (std::size_t value = 1; value < labels.names.size(); ++value) {
    const auto rule = rules.find(labels.names[value]);
    if (rule != rules.end() && !unpainted.contains(value)) painted.insert(rule->second);
  }
  for (const auto& one : labels.unpainted) {
    if (painted.contains(rules.at(labels.names[one.value]))) continue;
    refuse_unless(accepted, one.outside ? Doubt::outside : Doubt::no_area, ErrorCode::malformed,
                  one.text + "; without it the image would be taught to hold none of its class");
  }
}

/// Turns the names of the file into classes.
LabelVolume coded(NamedLabels labels, const Rules& rules) {
  std::vector<std::uint16_t> class_of(labels.names.size());
  for (std::size_t value = 1; value < labels.names.size(); ++value) {
    const auto found = rules.find(labels.names[value]);
    if (found != rules.end()) class_of[value] = static_cast<std::uint16_t>(found->second);
  }
  for (std::uint16_t& voxel : labels.volume.voxels) voxel = class_of[voxel];
  return std::move(labels.volume);
}

LabelVolume read_mask(const VolumeCase& volume, const std::string& path,
                      const imaging::VolumeGrid& image, const Accepted& accepted) {
  if (volume.masks_by_name.contains(path)) {
    const Rules rules = rules_of(volume, "name ", path);
    NamedLabels labels = with_context(path, [&] {
      return imaging::read_slicer_segmentation(
          path, image, [&](const std::string& name) { return rules.contains(name); });
    });
    check_painted(volume, labels, rules, accepted);
    return coded(std::move(labels), rules);
  }
  const auto mask = imaging::open_volume(path);
  LabelVolume labels = with_context(path, [&] {
    return imaging::read_label_volume(*mask, image, imaging::extent_of_mask(path));
  });
  const Rules of_masks = rules_of(volume, "mask ", path);
  const auto organ = of_masks.find(volume_stem(path));
  if (organ == of_masks.end()) {
    code_values_of_mask(volume, path, mask->info().grid, accepted, labels);
  } else {
    for (std::uint16_t& voxel : labels.voxels)
      voxel = voxel == 0 ? 0 : static_cast<std::uint16_t>(organ->second);
  }
  return labels;
}

LabelVolume read_object(const VolumeCase& volume, const std::string& path,
                        const imaging::VolumeGrid& image, const imaging::SlicePlaces& slices,
                        const Accepted& accepted) {
  const Rules rules = rules_of(volume, "name ", path);
  const auto wanted = [&](const std::string& name) { return rules.contains(name); };
  const bool segmentation =
      imaging::read_label_names(path).object == imaging::DicomObject::segmentation;
  NamedLabels labels = segmentation ? imaging::read_dicom_segmentation(path, image, wanted, slices)
                                    : imaging::read_structure_set(path, image, wanted, slices);
  check_painted(volume, labels, rules, accepted);
  return coded(std::move(labels), rules);
}

}  // namespace

imaging::LabelVolume read_case_labels(const VolumeCase& volume, const imaging::VolumeGrid& image,
                                      const Accepted& accepted,
                                      const imaging::SlicePlaces& slices) {
  if (volume.labels.empty()) fail(ErrorCode::internal, "image {} has no labels", volume.id);
  LabelVolume merged;
  for (const std::string& path : volume.labels) {
    LabelVolume labels = imaging::is_volume_file(path)
                             ? read_mask(volume, path, image, accepted)
                             : read_object(volume, path, image, slices, accepted);
    if (merged.voxels.empty()) {
      merged = std::move(labels);
      continue;
    }
    for (std::size_t i = 0; i < merged.voxels.size(); ++i) {
      if (labels.voxels[i] != 0) merged.voxels[i] = labels.voxels[i];
    }
    merged.notes.insert(merged.notes.end(), labels.notes.begin(), labels.notes.end());
  }
  if (volume.labels_by_frame)
    merged.notes.push_back(imaging::make_note(imaging::NoteCode::labels_by_frame));
  if (volume.labels_other_frame)
    merged.notes.push_back(imaging::make_note(imaging::NoteCode::labels_other_frame));
  const bool taught = std::any_of(merged.voxels.begin(), merged.voxels.end(),
                                  [](std::uint16_t value) { return value != kIgnoreLabel; });
  if (!taught) {
    refuse_unless(accepted, Doubt::ignore_only, ErrorCode::malformed,
                  fmt::format("{}: every voxel of the labels is ignore, so they teach nothing",
                              volume.labels.front()));
  }
  return merged;
}

}  // namespace headrace::ingest
