#pragma once
// For use inside handover/dicom only: DCMTK's data sets in a few short calls. Every call throws
// `internal` when DCMTK refuses, which a well-formed element never meets.
#include <dcmtk/config/osconfig.h>
#include <dcmtk/dcmdata/dctk.h>

#include <cstdint>
#include <string>
#include <vector>

#include "learn/handover/dicom/segment_codes.hpp"

namespace headrace::handover {

void put_text(DcmItem& item, const DcmTagKey& tag, const std::string& value);
/// Elements of two bytes (VR US, SS) and four (UL).
void put_u16(DcmItem& item, const DcmTagKey& tag, const std::vector<std::uint16_t>& values);
void put_u32(DcmItem& item, const DcmTagKey& tag, const std::vector<std::uint32_t>& values);
void put_i32(DcmItem& item, const DcmTagKey& tag, std::int32_t value);  ///< VR SL
/// A new item at the end of a sequence, which is made when it is not there.
DcmItem& add_item(DcmItem& item, const DcmTagKey& sequence);
/// A sequence without items.
void put_empty_sequence(DcmItem& item, const DcmTagKey& sequence);
/// A code sequence of one more item.
void add_code(DcmItem& item, const DcmTagKey& sequence, const CodedConcept& code);
/// A new item that refers to an object (Referenced SOP Class UID and Instance UID).
DcmItem& add_reference(DcmItem& item, const DcmTagKey& sequence, const std::string& sop_class_uid,
                       const std::string& sop_instance_uid);
/// An identifier of a source, without which other objects can't refer to it. Errors: malformed (it
/// is missing or empty; names it and the file).
std::string needed_text(DcmItem& header, const DcmTagKey& tag, const std::string& path);
/// Copies an element, or a sequence, when `from` has it.
void copy_element(DcmItem& from, DcmItem& to, const DcmTagKey& tag);

}  // namespace headrace::handover
