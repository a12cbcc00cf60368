#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace headrace::handover {

/// A code of a public scheme: SCT (SNOMED CT), DCM (DICOM PS3.16), UCUM.
struct CodedConcept {
  std::string value, scheme, meaning;
  bool operator==(const CodedConcept&) const = default;
};

/// What a segment is: Segmented Property Category, Type and, of paired organs, the side.
struct SegmentCodes {
  CodedConcept category, type;
  std::optional<CodedConcept> laterality;
  bool operator==(const SegmentCodes&) const = default;
};

/// Codes by the name of a class ("liver", "Kidney_Left", "back muscles"); case, blanks, '-', '_'
/// and the plural do not matter. A name that the table does not have is Tissue, which is true of
/// all that is segmented in a body.
///
/// source  DICOM PS3.16, CID 7150 (categories), 7151 and 7154 to 7160 (anatomy), 7166 (tissue),
///         7159 (lesions), 6201 (colon findings), 244 (laterality); the SNOMED CT codes that PS3.16
///         publishes
SegmentCodes segment_codes(std::string_view class_name);

/// Whether the codes name an organ or another normal part of a body.
bool is_anatomy(const SegmentCodes& codes);

}  // namespace headrace::handover
