#include "headrace/handover/dicom/segmentation.hpp"

#include <algorithm>
#include <map>

#include "headrace/core/error.hpp"
#include "headrace/handover/dicom/dataset_items.hpp"
#include "headrace/handover/dicom/derived_uid.hpp"
#include "headrace/handover/dicom/dicom_text.hpp"
#include "headrace/handover/dicom/object_file.hpp"
#include "headrace/handover/dicom/segmentation_frames.hpp"
#include "headrace/imaging/dicom/dcmtk_file.hpp"

namespace headrace::handover {
namespace {

using Frames = std::vector<SegmentationFrame>;

constexpr std::size_t kLongString = 64;  // characters of VR LO
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

void put_image(DcmItem& dataset, const CtPrediction& prediction, const SourceSeries& source,
               const Coding& coding) {
  const auto u16 = [&](const DcmTagKey& tag, std::int64_t value) {
    put_u16(dataset, tag, {static_cast<std::uint16_t>(value)});
  };
  put_text(dataset, DCM_ImageType, "DERIVED\\PRIMARY");
  u16(DCM_SamplesPerPixel, 1);
  put_text(dataset, DCM_PhotometricInterpretation, "MONOCHROME2");
  u16(DCM_Rows, prediction.file_grid.shape_zyx[1]);
  u16(DCM_Columns, prediction.file_grid.shape_zyx[2]);
  u16(DCM_BitsAllocated, coding.bits);
  u16(DCM_BitsStored, coding.bits);
  u16(DCM_HighBit, coding.bits - 1);
  u16(DCM_PixelRepresentation, 0);
  DcmItem& from = source.attributes();
  if (imaging::text_of(from, DCM_LossyImageCompression) == "01") {  // lost once is lost for good
    copy_element(from, dataset, DCM_LossyImageCompression);
    copy_element(from, dataset, DCM_LossyImageCompressionRatio);
    copy_element(from, dataset, DCM_LossyImageCompressionMethod);
  } else {
    put_text(dataset, DCM_LossyImageCompression, "00");
  }
  put_text(dataset, DCM_ContentLabel, "PREDICTION");
  put_text(dataset, DCM_ContentDescription,
           value_text(fmt::format("{}: {}", kResearchOnly, algorithm_text(prediction.algorithm)),
                      kLongString, false));
  put_text(dataset, DCM_ContentCreatorName, "");
  put_text(dataset, DCM_ContentDate, date_text(prediction.predicted_at));
  put_text(dataset, DCM_ContentTime, time_text(prediction.predicted_at));
  put_text(dataset, DCM_FrameOfReferenceUID, source.frame_of_reference_uid);
  put_text(dataset, DCM_PositionReferenceIndicator,
           imaging::text_of(from, DCM_PositionReferenceIndicator));
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

void add_segment(DcmItem& dataset, const Segment& segment, std::size_t number,
                 const Algorithm& algorithm, bool utf8) {
  DcmItem& item = add_item(dataset, DCM_SegmentSequence);
  put_u16(item, DCM_SegmentNumber, {static_cast<std::uint16_t>(number)});
  put_text(item, DCM_SegmentLabel, value_text(segment.name, kLongString, utf8));
  put_text(item, DCM_SegmentAlgorithmType, "AUTOMATIC");
  put_text(item, DCM_SegmentAlgorithmName,
           value_text(algorithm_text(algorithm), kLongString, false));
  DcmItem& facts = add_item(item, DCM_SegmentationAlgorithmIdentificationSequence);
  add_code(facts, DCM_AlgorithmFamilyCodeSequence, {"123110", "DCM", "Artificial Intelligence"});
  put_text(facts, DCM_AlgorithmName, kAlgorithmName);
  put_text(facts, DCM_AlgorithmVersion, value_text(algorithm.version, kLongString, false));
  put_text(facts, DCM_AlgorithmParameters, "weights SHA-256 " + algorithm.weights_sha256);
  add_code(item, DCM_SegmentedPropertyCategoryCodeSequence, segment.codes.category);
  add_code(item, DCM_SegmentedPropertyTypeCodeSequence, segment.codes.type);
  if (segment.codes.laterality) {
    DcmItem* type = imaging::item_of(item, DCM_SegmentedPropertyTypeCodeSequence);
    add_code(*type, DCM_SegmentedPropertyTypeModifierCodeSequence, *segment.codes.laterality);
  }
  const auto lab = cielab_of(segment.rgb);
  put_u16(item, DCM_RecommendedDisplayCIELabValue, {lab[0], lab[1], lab[2]});
}

void put_tag(DcmItem& item, const DcmTagKey& tag, const DcmTagKey& value) {
  if (item.putAndInsertTagKey(tag, value).bad()) fail(ErrorCode::internal, "a tag as a value.");
}

/// The numbers by which frames are ordered: segment, then place.
void put_dimensions(DcmItem& dataset, SegmentationKind kind, const std::string& uid) {
  put_text(add_item(dataset, DCM_DimensionOrganizationSequence), DCM_DimensionOrganizationUID, uid);
  const auto add = [&](const DcmTagKey& pointer, const DcmTagKey& group, const char* label) {
    DcmItem& item = add_item(dataset, DCM_DimensionIndexSequence);
    put_text(item, DCM_DimensionOrganizationUID, uid);
    put_tag(item, DCM_DimensionIndexPointer, pointer);
    put_tag(item, DCM_FunctionalGroupPointer, group);
    put_text(item, DCM_DimensionDescriptionLabel, label);
  };
  if (kind != SegmentationKind::labelmap) {
    add(DCM_ReferencedSegmentNumber, DCM_SegmentIdentificationSequence, "Segment Number");
  }
  add(DCM_ImagePositionPatient, DCM_PlanePositionSequence, "Image Position Patient");
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

void add_derivation(DcmItem& group, const SourceSlice& slice) {
  DcmItem& derivation = add_item(group, DCM_DerivationImageSequence);
  DcmItem& image = add_reference(derivation, DCM_SourceImageSequence, slice.sop_class_uid,
                                 slice.sop_instance_uid);
  add_code(image, DCM_PurposeOfReferenceCodeSequence,
           {"121322", "DCM", "Source image for image processing operation"});
  put_text(image, DCM_SpatialLocationsPreserved, "YES");
  add_code(derivation, DCM_DerivationCodeSequence, {"113076", "DCM", "Segmentation"});
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
    add_derivation(group, slice);
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

void put_pixels(DcmItem& dataset, const CtPrediction& prediction, SegmentationKind kind,
                const Frames& frames, const std::string& path) {
  constexpr std::uint64_t kMostBytes = 0xfffffffe;  // of an element (PS3.5, 7.1.1)
  const std::uint64_t size = frame_bytes(prediction, kind, frames.size());
  if (size > kMostBytes) {
    fail(ErrorCode::unsupported,
         "{}: {} frames of {} GiB together, and DICOM holds less than 4 in one object. Write the "
         "binary segmentation, or fewer classes.",
         path, frames.size(), size >> 30);
  }
  put_text(dataset, DCM_NumberOfFrames, std::to_string(frames.size()));
  auto pixels = std::make_unique<DcmPixelData>(DCM_PixelData);
  pixels->setVR(EVR_OB);
  Uint8* bytes = nullptr;
  if (pixels->createUint8Array(static_cast<Uint32>(size), bytes).bad() || bytes == nullptr) {
    fail(ErrorCode::memory, "{}: no memory for {} bytes of frames.", path, size);
  }
  fill_frames(prediction, kind, frames, {bytes, static_cast<std::size_t>(size)});
  if (dataset.insert(pixels.get()).bad()) fail(ErrorCode::internal, "{}: pixel data.", path);
  pixels.release();  // the data set owns it now
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
  put_image(dataset, prediction, source, coding);
  put_type(dataset, kind, coding);
  for (std::size_t s = 0; s < prediction.segments.size(); ++s) {
    add_segment(dataset, prediction.segments[s], s + 1, prediction.algorithm, source.utf8);
  }
  put_dimensions(dataset, kind, derived_uid(object.sop_instance_uid + "\ndimensions"));
  put_shared_groups(dataset, prediction, source);
  put_frame_groups(dataset, kind, frames, source);
  put_references(dataset, frames, source);
  put_pixels(dataset, prediction, kind, frames, path);
  write_object(file, EXS_LittleEndianExplicit, path);
  return object;
}

}  // namespace headrace::handover
