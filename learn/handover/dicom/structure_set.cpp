#include "learn/handover/dicom/structure_set.hpp"

#include <fmt/format.h>

#include <bitset>

#include "headrace/imaging/dicom/dcmtk_file.hpp"
#include "learn/handover/dicom/dataset_items.hpp"
#include "learn/handover/dicom/dicom_text.hpp"
#include "learn/handover/dicom/object_file.hpp"
#include "learn/handover/dicom/slice_outlines.hpp"

namespace headrace::handover {
namespace {

constexpr ObjectKind kStructureSet{"structures", UID_RTStructureSetStorage, "RTSTRUCT", 9104};
constexpr std::size_t kLongString = 64;  // characters of VR LO

/// The contours of one class, by slice.
struct Contour {
  std::size_t z = 0;
  std::vector<pixels::Corner> corners;
};

/// The contours of every segment, in the order of segments.
std::vector<std::vector<Contour>> contours_of(const CtPrediction& prediction) {
  std::bitset<256> traced;
  std::array<std::size_t, 256> segment_of{};
  for (std::size_t s = 0; s < prediction.segments.size(); ++s) {
    traced.set(prediction.segments[s].value);
    segment_of[prediction.segments[s].value] = s;
  }
  std::vector<std::vector<Contour>> contours(prediction.segments.size());
  const auto voxels = static_cast<std::size_t>(prediction.file_grid.slice_voxels());
  for (std::size_t z = 0; z * voxels < prediction.classes.size(); ++z) {
    for (SliceOutline& outline : slice_outlines(prediction.classes.subspan(z * voxels, voxels),
                                                prediction.file_grid.shape_zyx[2], traced)) {
      contours[segment_of[outline.value]].push_back({z, std::move(outline.corners)});
    }
  }
  return contours;
}

std::string contour_data(const std::vector<pixels::Corner>& corners, const SourceSlice& slice) {
  std::string text;
  for (const pixels::Corner& corner : corners) {
    for (std::size_t i = 0; i < 3; ++i) {
      // The position is that of the first pixel's centre; corners count from its corner.
      const double lps_mm = slice.position_lps_mm[i] + (corner.x - 0.5) * slice.column_step_mm[i] +
                            (corner.y - 0.5) * slice.row_step_mm[i];
      if (!text.empty()) text += '\\';
      text += decimal_text(lps_mm);
    }
  }
  return text;
}

void put_head(DcmItem& dataset, const CtPrediction& prediction, const SourceSeries& source) {
  put_text(dataset, DCM_OperatorsName, "");
  put_text(dataset, DCM_FrameOfReferenceUID, source.frame_of_reference_uid);
  put_text(dataset, DCM_PositionReferenceIndicator,
           imaging::text_of(source.attributes(), DCM_PositionReferenceIndicator));
  put_text(dataset, DCM_StructureSetLabel, "PREDICTION");
  put_text(dataset, DCM_StructureSetDescription,
           fmt::format("{}: {}", kResearchOnly, algorithm_text(prediction.algorithm)));
  put_text(dataset, DCM_StructureSetDate, date_text(prediction.predicted_at));
  put_text(dataset, DCM_StructureSetTime, time_text(prediction.predicted_at));
  put_text(dataset, DCM_ApprovalStatus, "UNAPPROVED");
}

void put_references(DcmItem& dataset, const SourceSeries& source) {
  DcmItem& frame = add_item(dataset, DCM_ReferencedFrameOfReferenceSequence);
  put_text(frame, DCM_FrameOfReferenceUID, source.frame_of_reference_uid);
  DcmItem& study = add_reference(frame, DCM_RTReferencedStudySequence,
                                 UID_RETIRED_DetachedStudyManagementSOPClass, source.study_uid);
  DcmItem& series = add_item(study, DCM_RTReferencedSeriesSequence);
  put_text(series, DCM_SeriesInstanceUID, source.series_uid);
  for (const SourceSlice& slice : source.slices) {
    add_reference(series, DCM_ContourImageSequence, slice.sop_class_uid, slice.sop_instance_uid);
  }
}

void add_roi(DcmItem& dataset, const Segment& segment, const std::string& number,
             const CtPrediction& prediction, const SourceSeries& source) {
  DcmItem& roi = add_item(dataset, DCM_StructureSetROISequence);
  put_text(roi, DCM_ROINumber, number);
  put_text(roi, DCM_ReferencedFrameOfReferenceUID, source.frame_of_reference_uid);
  put_text(roi, DCM_ROIName, value_text(segment.name, kLongString, source.utf8));
  put_text(roi, DCM_ROIGenerationAlgorithm, "AUTOMATIC");
  put_text(roi, DCM_ROIGenerationDescription,
           value_text(algorithm_text(prediction.algorithm), kLongString, false));
  DcmItem& observation = add_item(dataset, DCM_RTROIObservationsSequence);
  put_text(observation, DCM_ObservationNumber, number);
  put_text(observation, DCM_ReferencedROINumber, number);
  add_code(observation, DCM_RTROIIdentificationCodeSequence, segment.codes.type);
  put_text(observation, DCM_RTROIInterpretedType, is_anatomy(segment.codes) ? "ORGAN" : "");
  put_text(observation, DCM_ROIInterpreter, "");
}

void add_contours(DcmItem& dataset, const Segment& segment, const std::string& number,
                  const std::vector<Contour>& contours, const SourceSeries& source) {
  DcmItem& roi = add_item(dataset, DCM_ROIContourSequence);
  put_text(roi, DCM_ROIDisplayColor,
           fmt::format("{}\\{}\\{}", segment.rgb[0], segment.rgb[1], segment.rgb[2]));
  for (const Contour& contour : contours) {
    const SourceSlice& slice = source.slices[contour.z];
    DcmItem& item = add_item(roi, DCM_ContourSequence);
    add_reference(item, DCM_ContourImageSequence, slice.sop_class_uid, slice.sop_instance_uid);
    put_text(item, DCM_ContourGeometricType, "CLOSED_PLANAR");
    put_text(item, DCM_NumberOfContourPoints, std::to_string(contour.corners.size()));
    put_text(item, DCM_ContourData, contour_data(contour.corners, slice));
  }
  put_text(roi, DCM_ReferencedROINumber, number);
}

}  // namespace

WrittenObject write_structure_set(const CtPrediction& prediction, const std::string& path) {
  check_volume(prediction);
  check_segments(prediction);
  const SourceSeries source = read_source_series(prediction.source_files, prediction.file_grid);
  const WrittenObject object =
      identify(prediction, source, kStructureSet, content_hash(prediction));
  const auto contours = contours_of(prediction);
  DcmFileFormat file;
  DcmItem& dataset = *file.getDataset();
  put_common(dataset, prediction, source, kStructureSet, object);
  put_head(dataset, prediction, source);
  put_references(dataset, source);
  for (std::size_t s = 0; s < prediction.segments.size(); ++s) {
    const std::string number = std::to_string(s + 1);
    add_roi(dataset, prediction.segments[s], number, prediction, source);
    add_contours(dataset, prediction.segments[s], number, contours[s], source);
  }
  // Explicit value representations leave 64 KiB to the points of a contour, which is too few.
  write_object(file, EXS_LittleEndianImplicit, path);
  return object;
}

}  // namespace headrace::handover
