#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

#include "headrace/core/error.hpp"
#include "headrace/imaging/dicom/dcmtk_file.hpp"
#include "headrace/imaging/dicom/dicom_labels.hpp"
#include "headrace/imaging/dicom/dicom_stream.hpp"
#include "headrace/imaging/dicom/ring_union.hpp"
#include "headrace/imaging/dicom/structure_contours.hpp"
#include "headrace/imaging/dicom/structure_frames.hpp"
#include "headrace/imaging/volume/canonical_grid.hpp"
#include "headrace/imaging/volume/source_slices.hpp"

namespace headrace::imaging {
namespace {

const DcmTagKey kContourSlabThickness(0x3006, 0x0044);  // retired, and written by many
const DcmTagKey kContourOffsetVector(0x3006, 0x0045);
constexpr double kSliceTolerance =
    0.25;  ///< parts of the slice distance that a contour may lie off its slice

struct Structure {
  int number = 0;
  std::string name;
  /// Outlines as (x, y) voxel indices, where 0 is the centre of the first voxel.
  SliceContours by_slice;
  std::size_t contours = 0;  ///< all of them; of these:
  std::size_t lines = 0;     ///< points, open lines, and what encloses nothing
  std::size_t outside = 0, between = 0;
  double lowest = 1e300, highest = -1e300;  ///< slices, of those two
  std::vector<double> thickness_mm;         ///< of each that is taken, 0: not stated
  bool even_odd = false;                    ///< its contours are stated to be combined by it
};

std::vector<Structure> structures_of(DcmItem& dataset, const std::string& path) {
  std::map<int, Structure> by_number;
  for (long i = 0; i < items_of(dataset, DCM_StructureSetROISequence); ++i) {
    DcmItem& roi = *item_of(dataset, DCM_StructureSetROISequence, i);
    Structure structure;
    structure.number = static_cast<int>(number_of(roi, DCM_ROINumber).value_or(-1));
    structure.name = utf8_text_of(roi, DCM_ROIName);
    if (!by_number.try_emplace(structure.number, structure).second) {
      fail(ErrorCode::malformed, "{}: two structures have the number {}.", path, structure.number);
    }
  }
  std::vector<Structure> out;
  for (auto& [number, structure] : by_number) out.push_back(std::move(structure));
  return out;
}

/// Puts one contour on the slice nearest to it, or counts why it has none.
void add_contour(const std::vector<double>& points, double thickness_mm, const VolumeGrid& grid,
                 const SourceSlices& slices, Structure& structure) {
  pixels::Ring outline;
  double low = 1e300, high = -1e300;
  std::array<double, 2> first{1e300, 1e300}, last{-1e300, -1e300};
  for (std::size_t i = 0; i + 2 < points.size(); i += 3) {
    const Vec3 index = grid.to_index({points[i], points[i + 1], points[i + 2]});
    outline.push_back({index[0], index[1]});
    low = std::min(low, index[2]);
    high = std::max(high, index[2]);
    for (std::size_t a = 0; a < 2; ++a) {
      first[a] = std::min(first[a], index[static_cast<int>(a)]);
      last[a] = std::max(last[a], index[static_cast<int>(a)]);
    }
  }
  if (!encloses_area(outline)) {
    ++structure.lines;
    return;
  }
  const auto [depth, height, width] = grid.shape_zyx;
  const std::int64_t slice = slices.nearest((low + high) / 2);
  const double place = slices.place(slice).value_or(static_cast<double>(slice));
  const bool beside = last[0] < -0.5 || first[0] > static_cast<double>(width) - 0.5 ||
                      last[1] < -0.5 || first[1] > static_cast<double>(height) - 0.5;
  const bool on_slice = std::max(high - place, place - low) <= kSliceTolerance;
  if (beside || !on_slice) {
    const bool outside =
        beside || high < -kSliceTolerance || low > static_cast<double>(depth - 1) + kSliceTolerance;
    ++(outside ? structure.outside : structure.between);
    structure.lowest = std::min(structure.lowest, low);
    structure.highest = std::max(structure.highest, high);
    return;
  }
  structure.thickness_mm.push_back(thickness_mm);
  structure.by_slice[slice].push_back(std::move(outline));
}

/// The closed types of PS3.3 C.8.8.6.3, and the names that were given to them before.
bool is_closed(DcmItem& contour) {
  const std::string type = text_of(contour, DCM_ContourGeometricType);
  return type == "CLOSED_PLANAR" || type == "CLOSEDPLANAR" || type == "INTERPOLATED_PLANAR" ||
         type == "CLOSEDPLANAR_XOR" || type == "CLOSED_PLANAR_XOR";
}

/// A contour that states that it is combined with the others of its structure by the even-odd rule.
bool is_even_odd(DcmItem& contour) {
  return text_of(contour, DCM_ContourGeometricType).ends_with("_XOR");
}

/// Retired, and read in more than one way.
void refuse_offset(DcmItem& contour, const std::string& path, int structure) {
  const auto offset = numbers_of(contour, kContourOffsetVector, 3);
  if (!offset || *offset == std::vector<double>(3)) return;
  fail(ErrorCode::unsupported,
       "{}: a contour of structure {} is moved by a ContourOffsetVector ({:g}, {:g}, {:g}), "
       "expected none or 0. Export the structures without it.",
       path, structure, (*offset)[0], (*offset)[1], (*offset)[2]);
}

std::vector<double> points_of(DcmItem& contour, const std::string& path, int structure) {
  DcmElement* data = nullptr;
  if (contour.findAndGetElement(DCM_ContourData, data).bad() || data == nullptr) return {};
  const unsigned long count = data->getLength() == 0 ? 0 : data->getVM();
  rethrow_read_failure();
  auto points = numbers_of(contour, DCM_ContourData, count);
  if (!points || points->size() % 3 != 0) {
    fail(ErrorCode::malformed,
         "{}: a contour of structure {} has {} numbers, expected three for each point.", path,
         structure, count);
  }
  return *std::move(points);
}

void read_contours(DcmItem& roi, const VolumeGrid& grid, const SourceSlices& slices,
                   const std::string& path, Structure& structure) {
  for (long i = 0; i < items_of(roi, DCM_ContourSequence); ++i) {
    DcmItem& contour = *item_of(roi, DCM_ContourSequence, i);
    ++structure.contours;
    if (!is_closed(contour)) {
      ++structure.lines;
      continue;
    }
    refuse_offset(contour, path, structure.number);
    structure.even_odd = structure.even_odd || is_even_odd(contour);
    add_contour(points_of(contour, path, structure.number),
                number_of(contour, kContourSlabThickness).value_or(0), grid, slices, structure);
  }
}

/// The thickness that all contours state, in slices.
std::optional<double> thickness_of(const Structure& structure, const VolumeGrid& sliced) {
  const auto& stated = structure.thickness_mm;
  if (stated.empty() || !(stated.front() > 0)) return std::nullopt;
  const bool same = std::all_of(stated.begin(), stated.end(),
                                [&](double mm) { return std::abs(mm - stated.front()) < 1e-3; });
  return same ? std::optional<double>(stated.front() / sliced.spacing_mm(2)) : std::nullopt;
}

/// What is said of a structure that is read; its doubled contours go, gaps are filled where they
/// may be.
std::vector<Note> settle(Structure& structure, const VolumeGrid& grid, const SourceSlices& slices) {
  const auto number = static_cast<double>(structure.number);
  std::vector<Note> notes;
  const auto note = [&](NoteCode code, std::size_t count) {
    if (count > 0) notes.push_back(make_note(code, {number, static_cast<double>(count)}));
  };
  note(NoteCode::contours_left_out, structure.lines);
  if (structure.outside + structure.between > 0) {
    notes.push_back(make_note(
        NoteCode::contours_outside,
        {number, static_cast<double>(structure.outside), static_cast<double>(structure.between)}));
  }
  std::size_t doubled = 0;
  for (auto& [z, outlines] : structure.by_slice) doubled += drop_doubled(outlines);
  note(NoteCode::contours_doubled, doubled);
  const auto thickness = thickness_of(structure, grid);
  std::vector<bool> real;
  for (std::int64_t z = 0; z < slices.count(); ++z) real.push_back(slices.place(z).has_value());
  const ContourGaps gaps = fill_gaps(structure.by_slice, thickness, real);
  note(NoteCode::contours_missing, gaps.missing);
  if (gaps.filled > 0) {
    notes.push_back(make_note(NoteCode::contours_filled, {number, static_cast<double>(gaps.filled),
                                                          structure.thickness_mm.front()}));
  }
  return notes;
}

/// Why a structure that is read paints nothing.
Unpainted reason(const Structure& structure, std::size_t value, const VolumeGrid& sliced,
                 const std::string& path) {
  Unpainted why{value, false, {}};
  const std::string named =
      fmt::format("{}: structure {} '{}'", path, structure.number, structure.name);
  const std::size_t off = structure.outside + structure.between;
  if (structure.contours == 0) {
    why.text = named + " has no contour";
  } else if (structure.lines == structure.contours) {
    why.text = fmt::format("{} has {} contours, which are points and lines and enclose nothing",
                           named, structure.contours);
  } else if (off > 0 && off + structure.lines == structure.contours) {
    why.outside = true;
    why.text = fmt::format(
        "{}: none of its {} contours lies on a slice of its image: they lie at slices {:.2f} to "
        "{:.2f}, expected within {} of one of 0..{}, and over its pixels; image: {}; the structure "
        "set belongs to another series",
        named, structure.contours, structure.lowest, structure.highest, kSliceTolerance,
        sliced.shape_zyx[0] - 1, sliced.text());
  } else {
    why.text = fmt::format("{} has {} contours, which enclose no centre of a voxel", named,
                           structure.contours);
  }
  return why;
}

/// The structures that are read, each with its contours.
using Drawn = std::vector<std::pair<Structure*, DcmItem*>>;

Drawn drawn_of(DcmItem& dataset, const WantedName& wanted, std::vector<Structure>& structures) {
  Drawn drawn;
  for (long i = 0; i < items_of(dataset, DCM_ROIContourSequence); ++i) {
    DcmItem* roi = item_of(dataset, DCM_ROIContourSequence, i);
    const auto number = static_cast<int>(number_of(*roi, DCM_ReferencedROINumber).value_or(-1));
    for (Structure& structure : structures) {
      if (structure.number != number || (wanted && !wanted(structure.name))) continue;
      drawn.emplace_back(&structure, roi);
    }
  }
  return drawn;
}

/// Structures with contours in several frames of reference belong to several images, and which of
/// them belong to this one can't be known here.
void check_frames(DcmItem& dataset, const std::string& path) {
  const auto frames = frames_of_structures(dataset);
  if (frames.size() < 2) return;
  fail(ErrorCode::unsupported,
       "{}: its structures lie in {} frames of reference, so they belong to several images. Write "
       "those of each image to a file of its own.",
       path, frames.size());
}

/// Extent of the first closed contour of a structure along each axis of the image, in voxels.
Vec3 reach_of(DcmItem& roi, const VolumeGrid& image, const std::string& path, int structure) {
  for (long i = 0; i < items_of(roi, DCM_ContourSequence); ++i) {
    DcmItem& contour = *item_of(roi, DCM_ContourSequence, i);
    if (!is_closed(contour)) continue;
    const auto points = points_of(contour, path, structure);
    if (points.size() < 9) continue;
    Vec3 low = image.to_index({points[0], points[1], points[2]}), high = low;
    for (std::size_t p = 3; p < points.size(); p += 3) {
      const Vec3 index = image.to_index({points[p], points[p + 1], points[p + 2]});
      for (int a = 0; a < 3; ++a) {
        low[a] = std::min(low[a], index[a]);
        high[a] = std::max(high[a], index[a]);
      }
    }
    return {high[0] - low[0], high[1] - low[1], high[2] - low[2]};
  }
  return {};
}

/// The order of the image's axes in which slices lie across one of them.
AxisMap slices_across(int axis) {
  AxisMap map;
  if (axis < 2) map.axis = {axis == 0 ? 1 : 0, 2, axis};
  return map;
}

/// The axis of the image across which contours lie in slices: the one along which they have no
/// extent. Contours are drawn on the slices that the scanner made, and these may be sagittal or
/// coronal.
int contour_axis(const Drawn& drawn, const VolumeGrid& image, const std::string& path) {
  Vec3 sum{};
  for (const auto& [structure, roi] : drawn) {
    const Vec3 reach = reach_of(*roi, image, path, structure->number);
    for (int a = 0; a < 3; ++a) sum[a] += reach[a];
  }
  if (sum[2] <= std::min(sum[0], sum[1])) return 2;
  return sum[0] <= sum[1] ? 0 : 1;
}

/// That of one structure, which may have been drawn on other planes than the rest of them: where its
/// contour clearly does not lie in their slices, but in those across another axis.
int axis_of(const Structure& structure, const Drawn& drawn, int of_all, const VolumeGrid& image,
            const std::string& path) {
  constexpr double kInSlice = 0.5, kThroughSlices = 1;  // voxels
  for (const auto& [other, roi] : drawn) {
    if (other != &structure) continue;
    const Vec3 reach = reach_of(*roi, image, path, structure.number);
    if (reach[of_all] <= kThroughSlices) return of_all;
    for (int a = 0; a < 3; ++a) {
      if (reach[a] < kInSlice) return a;
    }
  }
  return of_all;
}

/// Returns the number of voxels that the structure covers, and notes contours that were joined.
std::size_t paint(const Structure& structure, std::uint16_t value, LabelVolume& volume) {
  std::size_t painted = 0, joined = 0;
  const std::int64_t height = volume.grid.shape_zyx[1], width = volume.grid.shape_zyx[2];
  for (const auto& [z, outlines] : structure.by_slice) {
    std::uint16_t* slice = volume.voxels.data() + z * volume.grid.slice_voxels();
    const RingUnion area(outlines, structure.even_odd);
    area.paint(height, width, value, slice);
    joined += area.joined();
    painted +=
        static_cast<std::size_t>(std::count(slice, slice + volume.grid.slice_voxels(), value));
  }
  if (joined > 0) {
    volume.notes.push_back(
        make_note(NoteCode::contours_joined,
                  {static_cast<double>(structure.number), static_cast<double>(joined)}));
  }
  return painted;
}

/// Brings labels on slices of `sliced` to the order of their image.
LabelVolume in_order_of(const VolumeGrid& image, const AxisMap& map, LabelVolume sliced) {
  if (map.identity()) return sliced;
  LabelVolume out(image);
  out.notes = std::move(sliced.notes);
  // `sliced` is the image in another order; the way back from it is the same as for a file.
  const VoxelPlaces places = places_of(map, sliced.grid.shape_zyx);
  for (std::int64_t z = 0; z < image.shape_zyx[0]; ++z) {
    slice_in_file_order(sliced.voxels.data(), image, z, places,
                        out.voxels.data() + z * image.slice_voxels());
  }
  return out;
}

/// Structures that were drawn on slices across one axis, one after the other.
struct Planes {
  int axis;
  AxisMap map;
  VolumeGrid sliced;
  SourceSlices source;
  LabelVolume volume;

  Planes(int across, const VolumeGrid& image, const SlicePlaces& slices)
      : axis(across),
        map(slices_across(across)),
        sliced(reordered(image, map)),
        source(sliced, 2, reordered(slices, map)),
        volume(sliced) {}
};

/// Paints them over what is there.
void add_planes(const VolumeGrid& image, Planes planes, LabelVolume& labels) {
  LabelVolume painted = in_order_of(image, planes.map, std::move(planes.volume));
  if (labels.voxels.empty()) {
    labels = std::move(painted);
    return;
  }
  for (std::size_t i = 0; i < labels.voxels.size(); ++i) {
    if (painted.voxels[i] != 0) labels.voxels[i] = painted.voxels[i];
  }
  labels.notes.insert(labels.notes.end(), painted.notes.begin(), painted.notes.end());
}

NamedLabels read_structures(DcmDataset& dataset, const std::string& path, const VolumeGrid& image,
                            const WantedName& wanted, const SlicePlaces& slices) {
  if (text_of(dataset, DCM_Modality) != "RTSTRUCT") {
    fail(ErrorCode::unsupported, "{}: not an RT structure set (modality {}).", path,
         text_of(dataset, DCM_Modality));
  }
  check_frames(dataset, path);
  auto structures = structures_of(dataset, path);
  const Drawn drawn = drawn_of(dataset, wanted, structures);
  const int of_all = contour_axis(drawn, image, path);
  NamedLabels labels;
  labels.names.push_back("background");
  std::optional<Planes> planes;
  for (Structure& structure : structures) {
    const std::size_t value = labels.names.size();
    labels.names.push_back(structure.name);
    if (wanted && !wanted(structure.name)) continue;
    const int axis = axis_of(structure, drawn, of_all, image, path);
    if (!planes || planes->axis != axis) {
      if (planes) add_planes(image, *std::move(planes), labels.volume);
      planes.emplace(axis, image, slices);
    }
    for (const auto& [one, roi] : drawn) {
      if (one == &structure) read_contours(*roi, planes->sliced, planes->source, path, structure);
    }
    auto& notes = planes->volume.notes;
    for (const Note& note : settle(structure, planes->sliced, planes->source))
      notes.push_back(note);
    if (paint(structure, static_cast<std::uint16_t>(value), planes->volume) > 0) continue;
    notes.push_back(make_note(NoteCode::structure_empty, {static_cast<double>(structure.number)}));
    labels.unpainted.push_back(reason(structure, value, planes->sliced, path));
  }
  if (!planes) planes.emplace(of_all, image, slices);
  add_planes(image, *std::move(planes), labels.volume);
  return labels;
}

}  // namespace

NamedLabels read_structure_set(const std::string& path, const VolumeGrid& image,
                               const WantedName& wanted, const SlicePlaces& slices) {
  const auto file = load_dicom(path, true);
  return naming(path,
                [&] { return read_structures(*file->getDataset(), path, image, wanted, slices); });
}

}  // namespace headrace::imaging
