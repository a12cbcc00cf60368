#pragma once
// For use inside handover/dicom only: what every written object has in common.
#include <dcmtk/config/osconfig.h>
#include <dcmtk/dcmdata/dctk.h>

#include <string>
#include <string_view>

#include "learn/handover/dicom/ct_prediction.hpp"
#include "learn/handover/dicom/source_series.hpp"

namespace headrace::handover {

inline constexpr const char* kAlgorithmName = "Headrace";
inline constexpr const char* kResearchOnly = "RESEARCH USE ONLY";

/// One kind of object.
struct ObjectKind {
  std::string_view name;  ///< in UIDs and in the series description
  const char* sop_class_uid;
  const char* modality;
  int series_number;  ///< of its series; those of scanners are smaller
};

/// Checks what a caller may get wrong. Errors: usage (no files, a class map of another size).
void check_volume(const CtPrediction& prediction);
/// Errors: usage (no segments, one without a name, value 0 or a value that two have).
void check_segments(const CtPrediction& prediction);

/// "Headrace 0.1.0, weights 0123456789abcdef": the release, and 16 digits of the weights' hash.
std::string algorithm_text(const Algorithm& algorithm);

/// UIDs of an object. The series follows from the source's UIDs, the weights' hash and the kind;
/// the instance from these and from `content`, which has to change with the object's content, since
/// one UID must never stand for two contents.
WrittenObject identify(const CtPrediction& prediction, const SourceSeries& source,
                       const ObjectKind& kind, std::string_view content);

/// SHA-256 of the class map, the segments' names and the time.
std::string content_hash(const CtPrediction& prediction);

/// Modules Patient, General Study and Series, Frame of Reference, Equipment and SOP Common; the
/// patient's and the study's attributes are those of the source.
void put_common(DcmItem& dataset, const CtPrediction& prediction, const SourceSeries& source,
                const ObjectKind& kind, const WrittenObject& object);

/// Writes aside, syncs and renames. Errors: io (names the file).
void write_object(DcmFileFormat& file, E_TransferSyntax syntax, const std::string& path);

}  // namespace headrace::handover
