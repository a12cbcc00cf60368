#include "learn/handover/dicom/object_file.hpp"

#include <dcmtk/dcmdata/dcostrma.h>

#include <set>

#include "headrace/core/error.hpp"
#include "headrace/core/release.hpp"
#include "headrace/core/sha256.hpp"
#include "headrace/imaging/dicom/dcmtk_file.hpp"
#include "headrace/storage/atomic_file.hpp"
#include "learn/handover/dicom/dataset_items.hpp"
#include "learn/handover/dicom/derived_uid.hpp"
#include "learn/handover/dicom/dicom_text.hpp"

namespace headrace::handover {
namespace {

constexpr std::size_t kLongString = 64;  // characters of VR LO

/// Attributes that the standard wants in every object even when their value is not known (type 2).
void copy_or_empty(DcmItem& from, DcmItem& to, const DcmTagKey& tag) {
  copy_element(from, to, tag);
  if (!to.tagExists(tag)) put_text(to, tag, "");
}

void put_patient_and_study(DcmItem& dataset, const SourceSeries& source) {
  DcmItem& from = source.attributes();
  if (!imaging::text_of(from, DCM_SpecificCharacterSet).empty()) {
    copy_element(from, dataset, DCM_SpecificCharacterSet);
  }
  for (const DcmTagKey& tag :
       {DCM_PatientName, DCM_PatientID, DCM_PatientBirthDate, DCM_PatientSex, DCM_StudyDate,
        DCM_StudyTime, DCM_StudyID, DCM_AccessionNumber, DCM_ReferringPhysicianName}) {
    copy_or_empty(from, dataset, tag);
  }
  for (const DcmTagKey& tag :
       {DCM_IssuerOfPatientID, DCM_PatientIdentityRemoved, DCM_DeidentificationMethod,
        DCM_DeidentificationMethodCodeSequence, DCM_StudyDescription, DCM_PatientAge}) {
    copy_element(from, dataset, tag);
  }
  put_text(dataset, DCM_StudyInstanceUID, source.study_uid);
}

void put_equipment(DcmItem& dataset, const CtPrediction& prediction) {
  const Algorithm& algorithm = prediction.algorithm;
  const auto put = [&](DcmItem& item) {
    put_text(item, DCM_Manufacturer, kAlgorithmName);
    put_text(item, DCM_ManufacturerModelName, kAlgorithmName);
    put_text(item, DCM_DeviceSerialNumber, algorithm.weights_sha256);
    put_text(item, DCM_SoftwareVersions, value_text(algorithm.version, kLongString, false));
  };
  put(dataset);
  DcmItem& contributing = add_item(dataset, DCM_ContributingEquipmentSequence);
  add_code(contributing, DCM_PurposeOfReferenceCodeSequence,
           {"109102", "DCM", "Processing Equipment"});
  put(contributing);
  put_text(contributing, DCM_ContributionDateTime,
           date_text(prediction.predicted_at) + time_text(prediction.predicted_at));
  put_text(contributing, DCM_ContributionDescription,
           fmt::format("{}: automatic prediction by a network, weights SHA-256 {}", kResearchOnly,
                       algorithm.weights_sha256));
}

/// Hands DCMTK's bytes to a file that appears when it is finished. What the file throws is kept and
/// thrown again later, since DCMTK is not made for exceptions.
class AsideConsumer : public DcmConsumer {
 public:
  explicit AsideConsumer(storage::AtomicFile& file) : file_(file) {}

  OFBool good() const override { return error_ == nullptr; }
  OFCondition status() const override { return good() ? EC_Normal : EC_InvalidStream; }
  OFBool isFlushed() const override { return OFTrue; }
  offile_off_t avail() const override { return 1 << 20; }
  void flush() override {}
  offile_off_t write(const void* bytes, offile_off_t size) override {
    try {
      file_.append({static_cast<const std::byte*>(bytes), static_cast<std::size_t>(size)});
      return size;
    } catch (...) {
      error_ = std::current_exception();
      return 0;
    }
  }
  void rethrow() const {
    if (error_) std::rethrow_exception(error_);
  }

 private:
  storage::AtomicFile& file_;
  std::exception_ptr error_;
};

class AsideStream : public DcmOutputStream {
 public:
  explicit AsideStream(AsideConsumer& consumer) : DcmOutputStream(&consumer) {}
};

}  // namespace

void check_volume(const CtPrediction& prediction) {
  const auto voxels = static_cast<std::size_t>(prediction.file_grid.voxels());
  if (prediction.source_files.empty()) fail(ErrorCode::usage, "a prediction without source files.");
  if (voxels == 0 || prediction.classes.size() != voxels) {
    fail(ErrorCode::usage, "a class map of {} voxels, expected {} as its grid.",
         prediction.classes.size(), voxels);
  }
}

void check_segments(const CtPrediction& prediction) {
  if (prediction.segments.empty()) fail(ErrorCode::usage, "a prediction without classes.");
  std::set<int> values;
  for (const Segment& segment : prediction.segments) {
    if (segment.name.empty() || segment.value == 0 || !values.insert(segment.value).second) {
      fail(ErrorCode::usage,
           "class '{}' of value {}: expected a name, and values from 1 on that no other class has.",
           segment.name, segment.value);
    }
  }
}

std::string algorithm_text(const Algorithm& algorithm) {
  constexpr std::size_t kVersion = 28, kHash = 16;
  return fmt::format("{} {}, weights {}", kAlgorithmName,
                     value_text(release_of(algorithm.version), kVersion, false),
                     value_text(algorithm.weights_sha256, kHash, false));
}

std::string content_hash(const CtPrediction& prediction) {
  Sha256 hash;
  hash.update(std::as_bytes(prediction.classes));
  for (const Segment& segment : prediction.segments) {
    hash.update(fmt::format("\n{}\t{}\t{}\t{:02x}{:02x}{:02x}", segment.value, segment.name,
                            segment.codes.type.value, segment.rgb[0], segment.rgb[1],
                            segment.rgb[2]));
    hash.update(std::as_bytes(segment.probability));
  }
  hash.update(fmt::format("\n{}\n{}", prediction.algorithm.version,
                          prediction.predicted_at.time_since_epoch().count()));
  return hash.hex();
}

WrittenObject identify(const CtPrediction& prediction, const SourceSeries& source,
                       const ObjectKind& kind, std::string_view content) {
  std::string text =
      fmt::format("headrace\n{}\n{}\n{}\n{}\n{}", kind.name, prediction.algorithm.weights_sha256,
                  source.study_uid, source.series_uid, source.frame_of_reference_uid);
  for (const SourceSlice& slice : source.slices) text += "\n" + slice.sop_instance_uid;
  const std::string instance = derived_uid(fmt::format("{}\ninstance\n{}", text, content));
  // A series of its own for each object, which has one date and one number.
  return {kind.sop_class_uid, instance, derived_uid(instance + "\nseries")};
}

void put_common(DcmItem& dataset, const CtPrediction& prediction, const SourceSeries& source,
                const ObjectKind& kind, const WrittenObject& object) {
  const std::string date = date_text(prediction.predicted_at);
  const std::string time = time_text(prediction.predicted_at);
  put_patient_and_study(dataset, source);
  put_text(dataset, DCM_SOPClassUID, object.sop_class_uid);
  put_text(dataset, DCM_SOPInstanceUID, object.sop_instance_uid);
  put_text(dataset, DCM_InstanceCreationDate, date);
  put_text(dataset, DCM_InstanceCreationTime, time);
  put_text(dataset, DCM_Modality, kind.modality);
  put_text(dataset, DCM_SeriesInstanceUID, object.series_uid);
  put_text(dataset, DCM_SeriesNumber, std::to_string(kind.series_number));
  put_text(dataset, DCM_SeriesDate, date);
  put_text(dataset, DCM_SeriesTime, time);
  put_text(dataset, DCM_SeriesDescription,
           value_text(fmt::format("{} {} by {}", kResearchOnly, kind.name,
                                  algorithm_text(prediction.algorithm)),
                      kLongString, false));
  put_text(dataset, DCM_InstanceNumber, "1");
  put_equipment(dataset, prediction);
}

void write_object(DcmFileFormat& file, E_TransferSyntax syntax, const std::string& path) {
  storage::AtomicFile aside(path);
  AsideConsumer consumer(aside);
  AsideStream stream(consumer);
  file.transferInit();
  const OFCondition condition = file.write(stream, syntax, EET_ExplicitLength, nullptr);
  file.transferEnd();
  consumer.rethrow();
  if (condition.bad()) {
    fail(ErrorCode::internal, "{}: DCMTK can't write this object ({}).", path, condition.text());
  }
  aside.finish();
}

}  // namespace headrace::handover
