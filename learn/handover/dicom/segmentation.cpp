#include "learn/handover/dicom/segmentation.hpp"

#include <map>
#include <span>
#include <string>
#include <vector>

#include "learn/handover/dicom/dataset_items.hpp"
#include "learn/handover/dicom/derived_uid.hpp"
#include "learn/handover/dicom/dicom_text.hpp"
#include "learn/handover/dicom/object_file.hpp"
#include "learn/handover/dicom/segmentation_frames.hpp"
#include "learn/handover/dicom/segmentation_items.hpp"

namespace headrace::handover {
namespace {

using Frames = std::vector<SegmentationFrame>;

constexpr const char* kLabelMapStorage = "1.2.840.10008.5.1.4.1.1.66.7";

struct Coding {
  ObjectKind object;
  const char* type;     ///< SegmentationType
  const char* overlap;  ///< SegmentsOverlap
  std::uint16_t bits;
};

Coding coding_of(SegmentationKind kind) {
  switch (kind) {
    case SegmentationKind::fractional:
      return {
          {"probabilities", UID_SegmentationStorage, "SEG", 9102}, "FRACTIONAL", "UNDEFINED", 8};
    case SegmentationKind::labelmap:
      return {{"label map", kLabelMapStorage, "SEG", 9103}, "LABELMAP", "NO", 8};
    case SegmentationKind::binary:
      break;
  }
  return {{"segmentation", UID_SegmentationStorage, "SEG", 9101}, "BINARY", "NO", 1};
}

void put_type(DcmItem& dataset, SegmentationKind kind, const Coding& coding) {
  put_text(dataset, DCM_SegmentationType, coding.type);
  put_text(dataset, DCM_SegmentsOverlap, coding.overlap);
  if (kind == SegmentationKind::fractional) {
    put_text(dataset, DCM_SegmentationFractionalType, "PROBABILITY");
    put_u16(dataset, DCM_MaximumFractionalValue, {255});
  }
  if (kind != SegmentationKind::labelmap) return;
  put_u16(dataset, DCM_PixelPaddingValue, {0});
  DcmItem& background = add_item(dataset, DCM_SegmentSequence);
  const CodedConcept code{"125040", "DCM", "Background"};
  put_u16(background, DCM_SegmentNumber, {0});
  put_text(background, DCM_SegmentLabel, "Background");
  put_text(background, DCM_SegmentAlgorithmType, "AUTOMATIC");
  put_text(background, DCM_SegmentAlgorithmName, kAlgorithmName);
  add_code(background, DCM_SegmentedPropertyCategoryCodeSequence, code);
  add_code(background, DCM_SegmentedPropertyTypeCodeSequence, code);
}

/// The numbers by which frames are ordered: segment, then place.
void put_dimensions(DcmItem& dataset, SegmentationKind kind, const std::string& uid) {
  std::vector<DimensionIndex> indices;
  if (kind != SegmentationKind::labelmap) indices.push_back(kSegmentIndex);
  indices.push_back(
      {DCM_ImagePositionPatient, DCM_PlanePositionSequence, "Image Position Patient"});
  put_dimension_indices(dataset, uid, indices);
}

void put_shared_groups(DcmItem& dataset, const CtPrediction& prediction,
                       const SourceSeries& source) {
  DcmItem& shared = add_item(dataset, DCM_SharedFunctionalGroupsSequence);
  put_text(add_item(shared, DCM_PlaneOrientationSequence), DCM_ImageOrientationPatient,
           source.orientation);
  DcmItem& measures = add_item(shared, DCM_PixelMeasuresSequence);
  const std::string depth = decimal_text(prediction.file_grid.spacing_mm(2));
  put_text(measures, DCM_SliceThickness, depth);
  put_text(measures, DCM_SpacingBetweenSlices, depth);
  put_text(measures, DCM_PixelSpacing, source.pixel_spacing);
}

/// Order of the slices that have frames, from 1.
std::map<std::int64_t, std::uint32_t> place_indices(const Frames& frames) {
  std::map<std::int64_t, std::uint32_t> places;
  for (const SegmentationFrame& frame : frames) places[frame.z] = 0;
  std::uint32_t next = 1;
  for (auto& [z, index] : places) index = next++;
  return places;
}

void put_frame_groups(DcmItem& dataset, SegmentationKind kind, const Frames& frames,
                      const SourceSeries& source) {
  const auto places = place_indices(frames);
  for (const SegmentationFrame& frame : frames) {
    const SourceSlice& slice = source.slices[static_cast<std::size_t>(frame.z)];
    DcmItem& group = add_item(dataset, DCM_PerFrameFunctionalGroupsSequence);
    const auto number = static_cast<std::uint16_t>(frame.segment + 1);
    std::vector<std::uint32_t> index{places.at(frame.z)};
    if (kind != SegmentationKind::labelmap) {
      index.insert(index.begin(), number);
      put_u16(add_item(group, DCM_SegmentIdentificationSequence), DCM_ReferencedSegmentNumber,
              {number});
    }
    put_text(add_source_image(group, slice), DCM_SpatialLocationsPreserved, "YES");
    put_u32(add_item(group, DCM_FrameContentSequence), DCM_DimensionIndexValues, index);
    put_text(add_item(group, DCM_PlanePositionSequence), DCM_ImagePositionPatient, slice.position);
  }
}

/// The source's images that frames refer to.
void put_references(DcmItem& dataset, const Frames& frames, const SourceSeries& source) {
  DcmItem& series = add_item(dataset, DCM_ReferencedSeriesSequence);
  put_text(series, DCM_SeriesInstanceUID, source.series_uid);
  for (const auto& [z, index] : place_indices(frames)) {
    const SourceSlice& slice = source.slices[static_cast<std::size_t>(z)];
    add_reference(series, DCM_ReferencedInstanceSequence, slice.sop_class_uid,
                  slice.sop_instance_uid);
  }
}

}  // namespace

WrittenObject write_segmentation(const CtPrediction& prediction, SegmentationKind kind,
                                 const std::string& path) {
  check_volume(prediction);
  check_segments(prediction);
  const Frames frames = frames_of(prediction, kind);
  const SourceSeries source = read_source_series(prediction.source_files, prediction.file_grid);
  const Coding coding = coding_of(kind);
  const WrittenObject object =
      identify(prediction, source, coding.object, content_hash(prediction));
  DcmFileFormat file;
  DcmItem& dataset = *file.getDataset();
  put_common(dataset, prediction, source, coding.object, object);
  const auto& shape_zyx = prediction.file_grid.shape_zyx;
  put_segmentation_image(dataset, prediction, source, {shape_zyx[1], shape_zyx[2], coding.bits});
  put_type(dataset, kind, coding);
  for (std::size_t s = 0; s < prediction.segments.size(); ++s) {
    add_segment(dataset, prediction.segments[s], s + 1, prediction.algorithm, source.utf8);
  }
  put_dimensions(dataset, kind, derived_uid(object.sop_instance_uid + "\ndimensions"));
  put_shared_groups(dataset, prediction, source);
  put_frame_groups(dataset, kind, frames, source);
  put_references(dataset, frames, source);
  insert_frames(
      dataset, frames.size(), frame_bytes(prediction, kind, frames.size()), path,
      [&](std::span<std::uint8_t> bytes) { fill_frames(prediction, kind, frames, bytes); });
  write_object(file, EXS_LittleEndianExplicit, path);
  return object;
}

}  // namespace headrace::handover
