#include "learn/handover/send/send_files.hpp"

#include <algorithm>
#include <mutex>
#include <set>

#include "headrace/core/error.hpp"
#include "headrace/core/option_name.hpp"
#include "headrace/core/progress.hpp"
#include "headrace/imaging/dicom/dcmtk_file.hpp"
#include "learn/handover/send/association.hpp"
#include "learn/handover/send/commitment.hpp"
#include "learn/handover/send/files_to_send.hpp"
#include "learn/handover/send/network_text.hpp"
#include "learn/handover/send/storage_status.hpp"

namespace headrace::handover {
namespace {

void check_options(const SendOptions& options) {
  check_ae_title(options.to.ae_title);
  check_ae_title(options.from);
  if (options.timeout_s < 1)
    fail(ErrorCode::usage, "{}: {}, expected a second or more.", Option{"timeout"},
         options.timeout_s);
  if (options.commit_port && !options.commit)
    fail(ErrorCode::usage, "{} is for {}, which was not asked for.", Option{"commit_port"},
         Option{"commit"});
}

std::vector<ObjectSyntax> kinds_of(const std::vector<SentFile>& files) {
  std::set<ObjectSyntax> kinds;
  for (const SentFile& file : files)
    if (file.outcome != SendOutcome::unreadable)
      kinds.insert({file.sop_class_uid, file.transfer_syntax_uid});
  return {kinds.begin(), kinds.end()};
}

void copy_uid(const std::string& uid, DIC_UI& to) {
  OFStandard::strlcpy(to, uid.c_str(), sizeof(DIC_UI));
}

/// The peer's own words beside a status.
std::string comment_of(DcmDataset* detail) {
  const std::string comment =
      detail == nullptr ? std::string() : imaging::text_of(*detail, DCM_ErrorComment);
  return comment.empty() ? comment : " (" + comment + ")";
}

void take_status(SentFile& file, std::uint16_t status, DcmDataset* detail) {
  file.status = status;
  const StatusKind kind = kind_of_status(status);
  file.outcome = kind == StatusKind::success   ? SendOutcome::stored
                 : kind == StatusKind::warning ? SendOutcome::warned
                                               : SendOutcome::refused;
  if (kind == StatusKind::success) return;
  file.reason = fmt::format("{}{}{}", kind == StatusKind::failure ? "the peer refused it: " : "",
                            status_text(status), comment_of(detail));
}

/// C-STORE of one file, whose presentation the peer has accepted.
void store(Association& association, T_ASC_PresentationContextID id, SentFile& file,
           int timeout_s) {
  const auto object = imaging::load_dicom(file.path, true);
  T_DIMSE_C_StoreRQ request{};
  request.MessageID = association.next_message_id();
  copy_uid(file.sop_class_uid, request.AffectedSOPClassUID);
  copy_uid(file.sop_instance_uid, request.AffectedSOPInstanceUID);
  request.DataSetType = DIMSE_DATASET_PRESENT;
  request.Priority = DIMSE_PRIORITY_MEDIUM;
  T_DIMSE_C_StoreRSP response{};
  DcmDataset* detail = nullptr;
  const OFCondition condition =
      DIMSE_storeUser(association.get(), id, &request, nullptr, object->getDataset(), nullptr,
                      nullptr, DIMSE_NONBLOCKING, timeout_s, &response, &detail);
  const std::unique_ptr<DcmDataset> owned(detail);
  if (condition.good()) return take_status(file, response.DimseStatus, detail);
  file.outcome = SendOutcome::unanswered;
  file.reason = fmt::format("the association was lost while it was sent: {}",
                            loss_text(association.lose(condition), timeout_s));
}

void send_one(Association& association, SentFile& file, int timeout_s) {
  if (file.outcome == SendOutcome::unreadable) return;
  if (association.lost()) {
    file.reason = "the association was lost before it was sent";
    return;
  }
  const auto presentation =
      association.presentation({file.sop_class_uid, file.transfer_syntax_uid});
  if (presentation.answer != ASC_P_ACCEPTANCE) {
    file.outcome = SendOutcome::no_presentation;
    file.reason =
        presentation_text(presentation.answer, file.sop_class_uid, file.transfer_syntax_uid);
    return;
  }
  try {
    store(association, presentation.id, file, timeout_s);
  } catch (const Error& error) {
    file.outcome = SendOutcome::unreadable;
    file.reason = error.what();
  }
}

std::vector<ObjectReference> stored_objects(const std::vector<SentFile>& files) {
  std::set<std::string> seen;
  std::vector<ObjectReference> objects;
  for (const SentFile& file : files)
    if (file.is_stored() && seen.insert(file.sop_instance_uid).second)
      objects.push_back({file.sop_class_uid, file.sop_instance_uid});
  return objects;
}

}  // namespace

SendReport send_files(const std::vector<std::string>& paths, const SendOptions& options) {
  static std::mutex one_at_a_time;
  const std::lock_guard lock(one_at_a_time);
  check_options(options);
  FilesToSend found = files_to_send(paths);
  SendReport report{options.to.text(), std::move(found.files), found.skipped, std::nullopt};
  const auto kinds = kinds_of(report.files);
  if (kinds.empty()) {
    for (const SentFile& file : report.files)
      if (options.on_file) options.on_file(file);
    return report;
  }
  std::optional<ReportListener> listener;
  if (options.commit_port) listener.emplace(options.to, *options.commit_port);
  Association association(options, kinds);
  Progress progress("sending", report.files.size(), "files");
  for (SentFile& file : report.files) {
    send_one(association, file, options.timeout_s);
    progress.advance();
    if (options.on_file) options.on_file(file);
  }
  const auto objects = stored_objects(report.files);
  if (options.commit && !objects.empty())
    report.commitment =
        ask_commitment(association, listener ? &*listener : nullptr, objects, options);
  return report;
}

}  // namespace headrace::handover
