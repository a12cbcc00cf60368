#include "headrace/imaging/volume/slicer_segmentation.hpp"

#include <algorithm>
#include <charconv>

#include "headrace/core/error.hpp"
#include "headrace/core/text.hpp"
#include "headrace/core/utf8.hpp"
#include "headrace/imaging/volume/grid_place.hpp"
#include "headrace/imaging/volume/nrrd.hpp"
#include "headrace/imaging/volume/whole_values.hpp"

namespace headrace::imaging {
namespace {

constexpr std::size_t kMostSegments = 65535;
constexpr std::size_t kValues = 65536;

std::int64_t number_at(const LayeredNrrd& file, const std::string& key, std::int64_t otherwise) {
  const auto found = file.pairs.find(key);
  if (found == file.pairs.end()) return otherwise;
  const std::string& text = found->second;
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() ? number : -1;
}

/// Before Slicer 4.11 each segment had a layer of its own, and no statement of it.
SlicerSegments segments_of(const LayeredNrrd& file, const std::string& path) {
  SlicerSegments found;
  found.layers = file.layers;
  for (std::size_t n = 0; n < kMostSegments; ++n) {
    const std::string key = fmt::format("Segment{}_", n);
    const auto name = file.pairs.find(key + "Name");
    if (name == file.pairs.end()) break;
    SlicerSegment segment;
    segment.name = shown_text(name->second);
    segment.layer =
        number_at(file, key + "Layer", file.layers > 1 ? static_cast<std::int64_t>(n) : 0);
    const std::int64_t value =
        number_at(file, key + "LabelValue", file.layers > 1 ? 1 : static_cast<std::int64_t>(n) + 1);
    if (segment.layer < 0 || segment.layer >= file.layers || value < 1 ||
        value >= static_cast<std::int64_t>(kValues)) {
      fail(ErrorCode::malformed,
           "{}: segment {} has layer {} and value {}, expected a layer in 0..{} and a value from 1 "
           "on",
           path, n, segment.layer, value, file.layers - 1);
    }
    segment.value = static_cast<std::uint16_t>(value);
    const auto same = std::find_if(
        found.segments.begin(), found.segments.end(), [&](const SlicerSegment& earlier) {
          return earlier.layer == segment.layer && earlier.value == segment.value;
        });
    if (same != found.segments.end()) {
      fail(ErrorCode::malformed,
           "{}: segments {} ('{}') and {} ('{}') both have layer {} and value {}, expected one "
           "segment for each pair. Save the segmentation again.",
           path, same - found.segments.begin(), same->name, n, segment.name, segment.layer,
           segment.value);
    }
    found.segments.push_back(std::move(segment));
  }
  return found;
}

/// The label of each value, by layer.
std::vector<std::vector<std::uint16_t>> tables_of(const SlicerSegments& segments,
                                                  const WantedName& wanted) {
  std::vector<std::vector<std::uint16_t>> tables(static_cast<std::size_t>(segments.layers),
                                                 std::vector<std::uint16_t>(kValues));
  std::uint16_t label = 0;
  for (const SlicerSegment& segment : segments.segments) {
    ++label;
    if (wanted && !wanted(segment.name)) continue;
    tables[static_cast<std::size_t>(segment.layer)][segment.value] = label;
  }
  return tables;
}

}  // namespace

SlicerSegments slicer_segments(const std::string& path) {
  if (!is_nrrd(path)) return {};
  return segments_of(open_layered_nrrd(path), path);
}

Extent extent_of_mask(const std::string& path) {
  const bool named = lowered(path).ends_with(".seg.nrrd");
  return named || !slicer_segments(path).segments.empty() ? Extent::part : Extent::whole;
}

NamedLabels read_slicer_segmentation(const std::string& path, const VolumeGrid& image,
                                     const WantedName& wanted) {
  const LayeredNrrd file = open_layered_nrrd(path);
  const SlicerSegments segments = segments_of(file, path);
  const auto place = place_on_grid(file.grid, image);
  if (!place) off_grid(file.grid, image);
  const auto tables = tables_of(segments, wanted);
  NamedLabels labels;
  labels.volume = LabelVolume(image);
  labels.names.push_back("background");
  for (const SlicerSegment& segment : segments.segments) labels.names.push_back(segment.name);
  const auto [depth, height, width] = file.grid.shape_zyx;
  std::vector<double> slice(static_cast<std::size_t>(height * width * file.layers));
  WholeValues values;
  std::vector<bool> painted(labels.names.size());
  std::uint64_t covered = 0, outside = 0, overlapping = 0;
  for (std::int64_t z = 0; z < depth; ++z) {
    file.voxels->read_slice(z, slice.data());
    const double* value = slice.data();
    for (std::int64_t y = 0; y < height; ++y) {
      for (std::int64_t x = 0; x < width; ++x) {
        std::uint16_t label = 0;
        for (const auto& table : tables) {
          const std::uint16_t here = table[values.take(*value++, x, y, z)];
          overlapping += here != 0 && label != 0;
          if (here == 0) continue;
          label = here;
          painted[label] = true;
        }
        const auto at = element_of((*place)(x, y, z), image);
        covered += at.has_value();
        if (at) labels.volume.voxels[static_cast<std::size_t>(*at)] = label;
        if (!at && label != 0) ++outside;
      }
    }
  }
  values.check();
  labels.volume.notes = values.notes();
  if (overlapping > 0) {
    labels.volume.notes.push_back(
        make_note(NoteCode::segments_overlap, {static_cast<double>(overlapping)}));
  }
  add_crop_note(covered, outside, file.grid, labels.volume);
  for (std::size_t v = 1; v < labels.names.size(); ++v) {
    if (painted[v] || (wanted && !wanted(labels.names[v]))) continue;
    labels.unpainted.push_back(
        {v, false, fmt::format("{}: segment '{}' has no voxel", path, labels.names[v])});
  }
  return labels;
}

}  // namespace headrace::imaging
