#include "learn/handover/dicom/dataset_items.hpp"

#include <memory>

#include "headrace/core/error.hpp"
#include "headrace/imaging/dicom/dcmtk_file.hpp"

namespace headrace::handover {
namespace {

void check(const OFCondition& condition, const DcmTagKey& tag) {
  if (condition.good()) return;
  fail(ErrorCode::internal, "DICOM element ({:04x},{:04x}): {}", tag.getGroup(), tag.getElement(),
       condition.text());
}

}  // namespace

void put_text(DcmItem& item, const DcmTagKey& tag, const std::string& value) {
  check(item.putAndInsertString(tag, value.data(), static_cast<Uint32>(value.size())), tag);
}

void put_u16(DcmItem& item, const DcmTagKey& tag, const std::vector<std::uint16_t>& values) {
  check(item.putAndInsertUint16Array(tag, values.data(), values.size()), tag);
}

void put_u32(DcmItem& item, const DcmTagKey& tag, const std::vector<std::uint32_t>& values) {
  auto element = std::make_unique<DcmUnsignedLong>(tag);
  check(element->putUint32Array(values.data(), values.size()), tag);
  check(item.insert(element.get(), OFTrue), tag);
  element.release();  // the item owns it now
}

void put_i32(DcmItem& item, const DcmTagKey& tag, std::int32_t value) {
  check(item.putAndInsertSint32(tag, value), tag);
}

DcmItem& add_item(DcmItem& item, const DcmTagKey& sequence) {
  DcmItem* added = nullptr;
  constexpr long kAppend = -2;
  check(item.findOrCreateSequenceItem(sequence, added, kAppend), sequence);
  return *added;
}

void put_empty_sequence(DcmItem& item, const DcmTagKey& sequence) {
  check(item.insertEmptyElement(sequence), sequence);
}

void add_code(DcmItem& item, const DcmTagKey& sequence, const CodedConcept& code) {
  DcmItem& added = add_item(item, sequence);
  put_text(added, DCM_CodeValue, code.value);
  put_text(added, DCM_CodingSchemeDesignator, code.scheme);
  put_text(added, DCM_CodeMeaning, code.meaning);
}

DcmItem& add_reference(DcmItem& item, const DcmTagKey& sequence, const std::string& sop_class_uid,
                       const std::string& sop_instance_uid) {
  DcmItem& added = add_item(item, sequence);
  put_text(added, DCM_ReferencedSOPClassUID, sop_class_uid);
  put_text(added, DCM_ReferencedSOPInstanceUID, sop_instance_uid);
  return added;
}

std::string needed_text(DcmItem& header, const DcmTagKey& tag, const std::string& path) {
  std::string text = imaging::text_of(header, tag);
  if (text.empty()) {
    fail(ErrorCode::malformed,
         "{}: {} is missing, without which other objects can't refer to this image. Bring the "
         "images with complete headers, or export to another format.",
         path, DcmTag(tag).getTagName());
  }
  return text;
}

void copy_element(DcmItem& from, DcmItem& to, const DcmTagKey& tag) {
  if (from.tagExists(tag)) check(from.findAndInsertCopyOfElement(tag, &to), tag);
}

}  // namespace headrace::handover
