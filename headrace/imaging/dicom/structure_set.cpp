#include <cmath>
#include <map>

#include "headrace/core/error.hpp"
#include "headrace/imaging/dicom/contour_fill.hpp"
#include "headrace/imaging/dicom/dcmtk_file.hpp"
#include "headrace/imaging/dicom/dicom_labels.hpp"

namespace headrace::imaging {
namespace {

constexpr double kSliceTolerance =
    0.25;  ///< parts of the slice distance that a contour may lie off its slice

struct Structure {
  int number = 0;
  std::string name;
  std::map<std::int64_t, std::vector<Outline>> by_slice;
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

/// Puts one contour on the slice that it lies nearest to.
void add_contour(const std::vector<double>& points, const VolumeGrid& image,
                 const std::string& path, Structure& structure) {
  Outline outline;
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

void read_contours(DcmItem& roi, const VolumeGrid& image, const std::string& path,
                   Structure& structure) {
  for (long i = 0; i < items_of(roi, DCM_ContourSequence); ++i) {
    DcmItem& contour = *item_of(roi, DCM_ContourSequence, i);
    const std::string type = text_of(contour, DCM_ContourGeometricType);
    if (type != "CLOSED_PLANAR" && type != "CLOSEDPLANAR_XOR") {
      ++structure.open_contours;
      continue;
    }
    DcmElement* data = nullptr;
    check(contour.findAndGetElement(DCM_ContourData, data), path, "ContourData");
    const auto points = numbers_of(contour, DCM_ContourData, data->getVM());
    if (!points || points->size() < 9 || points->size() % 3 != 0) {
      fail(ErrorCode::malformed,
           "{}: a contour of structure {} has {} numbers, expected three for each of 3 or more "
           "points.",
           path, structure.number, data->getVM());
    }
    add_contour(*points, image, path, structure);
  }
}

void paint(const Structure& structure, std::uint16_t value, LabelVolume& volume) {
  for (const auto& [z, outlines] : structure.by_slice) {
    fill_outlines(outlines, volume.grid.shape_zyx[1], volume.grid.shape_zyx[2], value,
                  volume.voxels.data() + z * volume.grid.slice_voxels());
  }
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
  for (long i = 0; i < items_of(dataset, DCM_ROIContourSequence); ++i) {
    DcmItem& roi = *item_of(dataset, DCM_ROIContourSequence, i);
    const auto number = static_cast<int>(number_of(roi, DCM_ReferencedROINumber).value_or(-1));
    for (Structure& structure : structures) {
      if (structure.number != number || (wanted && !wanted(structure.name))) continue;
      read_contours(roi, image, path, structure);
    }
  }
  DicomLabels labels;
  labels.volume = LabelVolume(image);
  labels.names.push_back("background");
  for (const Structure& structure : structures) {
    paint(structure, static_cast<std::uint16_t>(labels.names.size()), labels.volume);
    labels.names.push_back(structure.name);
    if (structure.open_contours > 0) {
      labels.volume.notes.push_back(
          fmt::format("structure {}: {} points and open lines left out, which enclose nothing.",
                      structure.number, structure.open_contours));
    }
  }
  return labels;
}

}  // namespace headrace::imaging
