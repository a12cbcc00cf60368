#pragma once
// For use inside handover/dicom only: content items of structured reports (PS3.3, C.17.3).
#include <dcmtk/config/osconfig.h>
#include <dcmtk/dcmdata/dctk.h>

#include <string>

#include "learn/handover/dicom/segment_codes.hpp"

namespace headrace::handover {

/// What a content item is to the one above it.
inline constexpr const char* kContains = "CONTAINS";
inline constexpr const char* kConceptMod = "HAS CONCEPT MOD";
inline constexpr const char* kObsContext = "HAS OBS CONTEXT";
inline constexpr const char* kAcqContext = "HAS ACQ CONTEXT";

/// The attributes of a container; `template_id` of the DICOM content mapping resource, or nullptr.
void put_container(DcmItem& item, const CodedConcept& name, const char* template_id);
/// Items below `parent`, in the order in which they are added.
DcmItem& add_container(DcmItem& parent, const CodedConcept& name, const char* template_id);
void add_code_item(DcmItem& parent, const char* relationship, const CodedConcept& name,
                   const CodedConcept& value);
void add_text_item(DcmItem& parent, const char* relationship, const CodedConcept& name,
                   const std::string& text);
void add_uid_item(DcmItem& parent, const char* relationship, const CodedConcept& name,
                  const std::string& uid);
void add_number_item(DcmItem& parent, const CodedConcept& name, double value,
                     const CodedConcept& unit);
/// name: nullptr for an image of the library. Returns the reference, for a segment number.
DcmItem& add_image_item(DcmItem& parent, const CodedConcept* name, const std::string& sop_class_uid,
                        const std::string& sop_instance_uid);

}  // namespace headrace::handover
