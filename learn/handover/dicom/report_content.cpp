#include "learn/handover/dicom/report_content.hpp"

#include "learn/handover/dicom/dataset_items.hpp"
#include "learn/handover/dicom/dicom_text.hpp"

namespace headrace::handover {
namespace {

DcmItem& add_content(DcmItem& parent, const char* relationship, const char* value_type,
                     const CodedConcept* name) {
  DcmItem& item = add_item(parent, DCM_ContentSequence);
  put_text(item, DCM_RelationshipType, relationship);
  put_text(item, DCM_ValueType, value_type);
  if (name != nullptr) add_code(item, DCM_ConceptNameCodeSequence, *name);
  return item;
}

}  // namespace

void put_container(DcmItem& item, const CodedConcept& name, const char* template_id) {
  put_text(item, DCM_ValueType, "CONTAINER");
  put_text(item, DCM_ContinuityOfContent, "SEPARATE");
  add_code(item, DCM_ConceptNameCodeSequence, name);
  if (template_id == nullptr) return;
  DcmItem& used = add_item(item, DCM_ContentTemplateSequence);
  put_text(used, DCM_MappingResource, "DCMR");
  put_text(used, DCM_MappingResourceUID, UID_DICOMContentMappingResource);
  put_text(used, DCM_TemplateIdentifier, template_id);
}

DcmItem& add_container(DcmItem& parent, const CodedConcept& name, const char* template_id) {
  DcmItem& item = add_item(parent, DCM_ContentSequence);
  put_text(item, DCM_RelationshipType, kContains);
  put_container(item, name, template_id);
  return item;
}

void add_code_item(DcmItem& parent, const char* relationship, const CodedConcept& name,
                   const CodedConcept& value) {
  add_code(add_content(parent, relationship, "CODE", &name), DCM_ConceptCodeSequence, value);
}

void add_text_item(DcmItem& parent, const char* relationship, const CodedConcept& name,
                   const std::string& text) {
  put_text(add_content(parent, relationship, "TEXT", &name), DCM_TextValue, text);
}

void add_uid_item(DcmItem& parent, const char* relationship, const CodedConcept& name,
                  const std::string& uid) {
  put_text(add_content(parent, relationship, "UIDREF", &name), DCM_UID, uid);
}

void add_number_item(DcmItem& parent, const CodedConcept& name, double value,
                     const CodedConcept& unit) {
  DcmItem& item = add_content(parent, kContains, "NUM", &name);
  DcmItem& measured = add_item(item, DCM_MeasuredValueSequence);
  put_text(measured, DCM_NumericValue, decimal_text(value));
  add_code(measured, DCM_MeasurementUnitsCodeSequence, unit);
}

DcmItem& add_image_item(DcmItem& parent, const CodedConcept* name, const std::string& sop_class_uid,
                        const std::string& sop_instance_uid) {
  return add_reference(add_content(parent, kContains, "IMAGE", name), DCM_ReferencedSOPSequence,
                       sop_class_uid, sop_instance_uid);
}

}  // namespace headrace::handover
