#include <cmath>
#include <map>

#include "headrace/core/error.hpp"
#include "headrace/imaging/dicom/dcmtk_file.hpp"
#include "headrace/imaging/dicom/dicom_labels.hpp"
#include "headrace/imaging/volume/canonical_grid.hpp"
#include "headrace/pixels/polygon_raster.hpp"

namespace headrace::imaging {
namespace {

constexpr double kSliceTolerance =
    0.25;  ///< parts of the slice distance that a contour may lie off its slice

struct Structure {
  int number = 0;
  std::string name;
  /// Outlines as (x, y) voxel indices, where 0 is the centre of the first voxel.
  std::map<std::int64_t, std::vector<pixels::Ring>> by_slice;
  std::size_t open_contours = 0;
};

std::vector<Structure> structures_of(DcmItem& dataset, const std::string& path) {
  std::map<int, Structure> by_number;
  for (long i = 0; i < items_of(dataset, DCM_StructureSetROISequence); ++i) {
    DcmItem& roi = *item_of(dataset, DCM_StructureSetROISequence, i);
    const auto number = static_cast<int>(number_of(roi, DCM_ROINumber).value_or(-1));
    if (!by_number.try_emplace(number, Structure{number, text_of(roi, DCM_ROIName), {}, 0})
             .second) {
      fail(ErrorCode::malformed, "{}: two structures have the number {}.", path, number);
    }
  }
  std::vector<Structure> out;
  for (auto& [number, structure] : by_number) out.push_back(std::move(structure));
  return out;
}

/// Puts one contour on the slice nearest to it.
void add_contour(const std::vector<double>& points, const VolumeGrid& image,
                 const std::string& path, Structure& structure) {
  pixels::Ring outline;
  double low = 1e300, high = -1e300;
  for (std::size_t i = 0; i + 2 < points.size(); i += 3) {
    const Vec3 index = image.to_index({points[i], points[i + 1], points[i + 2]});
    outline.push_back({index[0], index[1]});
    low = std::min(low, index[2]);
    high = std::max(high, index[2]);
  }
  const double slice = std::round((low + high) / 2);
  const double off = std::max(high - slice, slice - low);
  const auto depth = static_cast<double>(image.shape_zyx[0]);
  if (!(off <= kSliceTolerance) || slice < 0 || slice > depth - 1) {
    fail(ErrorCode::malformed,
         "{}: a contour of structure {} lies at slice {:.2f} to {:.2f}, expected within {} of one "
         "of the slices 0..{} of its "
         "image. Image: {}. The structure set belongs to another series.",
         path, structure.number, low, high, kSliceTolerance, image.shape_zyx[0] - 1, image.text());
  }
  structure.by_slice[static_cast<std::int64_t>(slice)].push_back(std::move(outline));
}

bool is_closed(DcmItem& contour) {
  const std::string type = text_of(contour, DCM_ContourGeometricType);
  return type == "CLOSED_PLANAR" || type == "CLOSEDPLANAR_XOR";
}

std::vector<double> points_of(DcmItem& contour, const std::string& path, int structure) {
  DcmElement* data = nullptr;
  check(contour.findAndGetElement(DCM_ContourData, data), path, "ContourData");
  auto points = numbers_of(contour, DCM_ContourData, data->getVM());
  if (!points || points->size() < 9 || points->size() % 3 != 0) {
    fail(ErrorCode::malformed,
         "{}: a contour of structure {} has {} numbers, expected three for each of 3 or more "
         "points.",
         path, structure, data->getVM());
  }
  return *std::move(points);
}

void read_contours(DcmItem& roi, const VolumeGrid& image, const std::string& path,
                   Structure& structure) {
  for (long i = 0; i < items_of(roi, DCM_ContourSequence); ++i) {
    DcmItem& contour = *item_of(roi, DCM_ContourSequence, i);
    if (!is_closed(contour)) {
      ++structure.open_contours;
      continue;
    }
    add_contour(points_of(contour, path, structure.number), image, path, structure);
  }
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

/// Extent of the first closed contour of a structure along each axis of the image, in voxels.
Vec3 reach_of(DcmItem& roi, const VolumeGrid& image, const std::string& path, int structure) {
  for (long i = 0; i < items_of(roi, DCM_ContourSequence); ++i) {
    DcmItem& contour = *item_of(roi, DCM_ContourSequence, i);
    if (!is_closed(contour)) continue;
    const auto points = points_of(contour, path, structure);
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

/// The order of the image's axes in which contours lie in slices: z is the axis along which they
/// have no extent. Contours are drawn on the slices that the scanner made, and these may be
/// sagittal or coronal.
AxisMap contour_slices(const Drawn& drawn, const VolumeGrid& image, const std::string& path) {
  Vec3 sum{};
  for (const auto& [structure, roi] : drawn) {
    const Vec3 reach = reach_of(*roi, image, path, structure->number);
    for (int a = 0; a < 3; ++a) sum[a] += reach[a];
  }
  AxisMap map;
  if (sum[2] <= std::min(sum[0], sum[1])) return map;
  const int across = sum[0] <= sum[1] ? 0 : 1;
  map.axis = {across == 0 ? 1 : 0, 2, across};
  return map;
}

void paint(const Structure& structure, std::uint16_t value, LabelVolume& volume) {
  for (const auto& [z, outlines] : structure.by_slice) {
    pixels::PolygonRaster raster;
    raster.add(outlines, value, 1, 0.5);  // where 0.5 is the centre of the first voxel
    const std::int64_t height = volume.grid.shape_zyx[1], width = volume.grid.shape_zyx[2];
    raster.paint(0, 0, height, width, volume.voxels.data() + z * volume.grid.slice_voxels(), width);
  }
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

}  // namespace

DicomLabels read_structure_set(const std::string& path, const VolumeGrid& image,
                               const WantedName& wanted) {
  const auto file = load_dicom(path, true);
  DcmDataset& dataset = *file->getDataset();
  if (text_of(dataset, DCM_Modality) != "RTSTRUCT") {
    fail(ErrorCode::unsupported, "{}: not an RT structure set (modality {}).", path,
         text_of(dataset, DCM_Modality));
  }
  auto structures = structures_of(dataset, path);
  const Drawn drawn = drawn_of(dataset, wanted, structures);
  const AxisMap map = contour_slices(drawn, image, path);
  const VolumeGrid sliced = reordered(image, map);
  for (const auto& [structure, roi] : drawn) read_contours(*roi, sliced, path, *structure);
  DicomLabels labels;
  labels.volume = LabelVolume(sliced);
  labels.names.push_back("background");
  for (const Structure& structure : structures) {
    paint(structure, static_cast<std::uint16_t>(labels.names.size()), labels.volume);
    labels.names.push_back(structure.name);
    if (structure.open_contours > 0) {
      labels.volume.notes.push_back(make_note(
          NoteCode::contours_left_out,
          {static_cast<double>(structure.number), static_cast<double>(structure.open_contours)}));
    }
  }
  labels.volume = in_order_of(image, map, std::move(labels.volume));
  return labels;
}

}  // namespace headrace::imaging
