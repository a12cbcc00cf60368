#include "learn/handover/send/stow_answer.hpp"

#include <fmt/format.h>

#include "headrace/core/json.hpp"
#include "headrace/core/json_depth.hpp"
#include "learn/handover/send/storage_status.hpp"
#include "learn/handover/send/web_credentials.hpp"

namespace headrace::handover {
namespace {

// Attributes as DICOM JSON writes them.
constexpr const char* kFailedObjects = "00081198";
constexpr const char* kStoredObjects = "00081199";
constexpr const char* kObjectUid = "00081155";
constexpr const char* kFailureReason = "00081197";
constexpr const char* kWarningReason = "00081196";

Json values_of(const Json& item, const char* attribute) {
  const Json* values = find_at(item, {attribute, "Value"});
  return values != nullptr && values->is_array() ? *values : Json::array();
}

/// The item of a sequence that is about an object; null where none is.
Json item_about(const Json& answer, const char* sequence, const std::string& uid) {
  for (const Json& item : values_of(answer, sequence))
    if (values_of(item, kObjectUid) == Json::array({uid})) return item;
  return nullptr;
}

std::optional<std::uint16_t> reason_of(const Json& item, const char* attribute) {
  const Json values = values_of(item, attribute);
  if (values.empty() || !values[0].is_number_integer()) return std::nullopt;
  return values[0].get<std::uint16_t>();
}

bool take_item(SentFile& file, const Json& answer) {
  const Json failed = item_about(answer, kFailedObjects, file.sop_instance_uid);
  const Json stored = item_about(answer, kStoredObjects, file.sop_instance_uid);
  if (failed.is_null() && stored.is_null()) return false;
  file.status = failed.is_null() ? reason_of(stored, kWarningReason).value_or(0)
                                 : reason_of(failed, kFailureReason);
  const std::string text = file.status ? status_text(*file.status) : "without a reason";
  if (!failed.is_null()) {
    file.outcome = SendOutcome::refused;
    file.reason = "the peer refused it: " + text;
  } else if (file.status != 0) {
    file.outcome = SendOutcome::warned;
    file.reason = text;
  } else {
    file.outcome = SendOutcome::stored;
  }
  return true;
}

/// What a status of HTTP means here, and what to do.
std::string http_text(int status) {
  switch (status) {
    case 400:
      return "it can't read the object";
    case 401:
      return fmt::format("it wants (other) credentials. Set {} or {}", kWebUserVariable,
                         kWebTokenVariable);
    case 403:
      return "who asks may not store";
    case 404:
    case 405:
      return "nothing there stores objects. Name the root of its DICOMweb, to which '/studies' is "
             "added";
    case 406:
    case 415:
      return "it does not take DICOM files, or does not answer in DICOM JSON";
    case 413:
      return "the object is too large for it";
    case 429:
    case 503:
      return "it is busy. Try again later";
    default:
      if (status >= 300 && status < 400)
        return "it refers to another address, which is not followed. Name that one, if you trust "
               "it";
      return status >= 500 ? "the server failed" : "it did not take the object";
  }
}

bool ends_all(int status) {
  return (status >= 300 && status < 400) || status == 401 || status == 403 || status == 404 ||
         status == 405;
}

}  // namespace

bool take_stow_answer(SentFile& file, const HttpAnswer& answer) {
  const Json content = json_or_discarded(answer.content);
  if (content.is_object() && take_item(file, content)) return true;
  if (answer.status >= 200 && answer.status < 300) {
    file.outcome = SendOutcome::unanswered;
    file.reason = fmt::format(
        "the answer (HTTP {}) does not say that it is stored. Check that this is the root of a "
        "PACS' DICOMweb",
        answer.status);
    return true;
  }
  file.outcome = SendOutcome::refused;
  file.reason = fmt::format("HTTP {}: {}", answer.status, http_text(answer.status));
  return !ends_all(answer.status);
}

}  // namespace headrace::handover
