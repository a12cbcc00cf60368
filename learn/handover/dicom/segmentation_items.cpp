#include "learn/handover/dicom/segmentation_items.hpp"

#include <memory>

#include "headrace/core/error.hpp"
#include "headrace/imaging/dicom/dcmtk_file.hpp"
#include "learn/handover/dicom/dicom_text.hpp"
#include "learn/handover/dicom/object_file.hpp"

namespace headrace::handover {
namespace {

constexpr std::size_t kLongString = 64;  // characters of VR LO

void put_tag(DcmItem& item, const DcmTagKey& tag, const DcmTagKey& value) {
  if (item.putAndInsertTagKey(tag, value).bad()) fail(ErrorCode::internal, "a tag as a value.");
}

}  // namespace

void put_segmentation_image(DcmItem& dataset, const CtPrediction& prediction,
                            const SourceSeries& source, const FrameShape& frame) {
  const auto u16 = [&](const DcmTagKey& tag, std::int64_t value) {
    put_u16(dataset, tag, {static_cast<std::uint16_t>(value)});
  };
  put_text(dataset, DCM_ImageType, "DERIVED\\PRIMARY");
  u16(DCM_SamplesPerPixel, 1);
  put_text(dataset, DCM_PhotometricInterpretation, "MONOCHROME2");
  u16(DCM_Rows, frame.rows);
  u16(DCM_Columns, frame.columns);
  u16(DCM_BitsAllocated, frame.bits);
  u16(DCM_BitsStored, frame.bits);
  u16(DCM_HighBit, frame.bits - 1);
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

void put_dimension_indices(DcmItem& dataset, const std::string& uid,
                           const std::vector<DimensionIndex>& indices) {
  put_text(add_item(dataset, DCM_DimensionOrganizationSequence), DCM_DimensionOrganizationUID, uid);
  for (const DimensionIndex& index : indices) {
    DcmItem& item = add_item(dataset, DCM_DimensionIndexSequence);
    put_text(item, DCM_DimensionOrganizationUID, uid);
    put_tag(item, DCM_DimensionIndexPointer, index.pointer);
    put_tag(item, DCM_FunctionalGroupPointer, index.group);
    put_text(item, DCM_DimensionDescriptionLabel, index.label);
  }
}

DcmItem& add_source_image(DcmItem& group, const SourceSlice& image) {
  DcmItem& derivation = add_item(group, DCM_DerivationImageSequence);
  DcmItem& source = add_reference(derivation, DCM_SourceImageSequence, image.sop_class_uid,
                                  image.sop_instance_uid);
  add_code(source, DCM_PurposeOfReferenceCodeSequence,
           {"121322", "DCM", "Source image for image processing operation"});
  add_code(derivation, DCM_DerivationCodeSequence, {"113076", "DCM", "Segmentation"});
  return source;
}

void insert_frames(DcmItem& dataset, std::size_t frames, std::uint64_t bytes,
                   const std::string& path,
                   const std::function<void(std::span<std::uint8_t>)>& fill) {
  constexpr std::uint64_t kMostBytes = 0xfffffffe;  // of an element (PS3.5, 7.1.1)
  if (bytes > kMostBytes) {
    fail(ErrorCode::unsupported,
         "{}: {} frames of {} GiB together, and DICOM holds less than 4 in one object. Write the "
         "binary segmentation, or fewer classes.",
         path, frames, bytes >> 30);
  }
  put_text(dataset, DCM_NumberOfFrames, std::to_string(frames));
  auto pixels = std::make_unique<DcmPixelData>(DCM_PixelData);
  pixels->setVR(EVR_OB);
  Uint8* data = nullptr;
  if (pixels->createUint8Array(static_cast<Uint32>(bytes), data).bad() || data == nullptr) {
    fail(ErrorCode::memory, "{}: no memory for {} bytes of frames.", path, bytes);
  }
  fill({data, static_cast<std::size_t>(bytes)});
  if (dataset.insert(pixels.get()).bad()) fail(ErrorCode::internal, "{}: pixel data.", path);
  pixels.release();  // the data set owns it now
}

}  // namespace headrace::handover
