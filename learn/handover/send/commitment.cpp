#include "learn/handover/send/commitment.hpp"

#include <dcmtk/dcmdata/dctk.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <map>

#include "headrace/core/option_name.hpp"
#include "headrace/imaging/dicom/dcmtk_file.hpp"
#include "learn/handover/dicom/dataset_items.hpp"
#include "learn/handover/dicom/derived_uid.hpp"
#include "learn/handover/send/commitment_report.hpp"
#include "learn/handover/send/network_text.hpp"
#include "learn/handover/send/storage_status.hpp"

namespace headrace::handover {
namespace {

using Clock = std::chrono::steady_clock;

constexpr DIC_US kRequestCommitment = 1;  // action type (PS3.4, J.3.2)

/// Of this one request and no other: a peer may refuse a transaction that it has seen.
std::string new_transaction_uid(const std::vector<ObjectReference>& objects) {
  return derived_uid(fmt::format("storage commitment\n{}\n{}\n{}", ::getpid(),
                                 std::chrono::system_clock::now().time_since_epoch().count(),
                                 objects.front().sop_instance_uid));
}

DcmDataset request_content(const std::vector<ObjectReference>& objects,
                           const std::string& transaction_uid) {
  DcmDataset content;
  put_text(content, DCM_TransactionUID, transaction_uid);
  for (const ObjectReference& object : objects)
    add_reference(content, DCM_ReferencedSOPSequence, object.sop_class_uid,
                  object.sop_instance_uid);
  return content;
}

/// N-ACTION; empty where the peer takes the request, else why not.
std::string request(Association& association, DcmDataset& content, int timeout_s) {
  const Presentation presentation = association.commitment();
  T_DIMSE_Message message{};
  message.CommandField = DIMSE_N_ACTION_RQ;
  T_DIMSE_N_ActionRQ& action = message.msg.NActionRQ;
  action.MessageID = association.next_message_id();
  action.ActionTypeID = kRequestCommitment;
  action.DataSetType = DIMSE_DATASET_PRESENT;
  OFStandard::strlcpy(action.RequestedSOPClassUID, UID_StorageCommitmentPushModelSOPClass,
                      sizeof(DIC_UI));
  OFStandard::strlcpy(action.RequestedSOPInstanceUID, UID_StorageCommitmentPushModelSOPInstance,
                      sizeof(DIC_UI));
  OFCondition condition = DIMSE_sendMessageUsingMemoryData(
      association.get(), presentation.id, &message, nullptr, &content, nullptr, nullptr);
  T_DIMSE_Message answer{};
  if (condition.good()) {
    T_ASC_PresentationContextID id = 0;
    DcmDataset* detail = nullptr;
    condition = DIMSE_receiveCommand(association.get(), DIMSE_NONBLOCKING, timeout_s, &id, &answer,
                                     &detail);
    delete detail;
  }
  if (condition.good() && answer.CommandField != DIMSE_N_ACTION_RSP)
    condition = DIMSE_BADCOMMANDTYPE;
  if (condition.bad()) {
    return fmt::format("the request was not answered: {}",
                       loss_text(association.lose(condition), timeout_s));
  }
  const DIC_US status = answer.msg.NActionRSP.DimseStatus;
  if (kind_of_status(status) == StatusKind::failure)
    return fmt::format("the peer refused the request: {}", status_text(status));
  return {};
}

std::string no_report_text(const SendOptions& options, const std::string& loss) {
  const std::string where =
      options.commit_port ? fmt::format("on this association, nor at port {}", *options.commit_port)
                          : "on this association";
  const std::string advice =
      options.commit_port
          ? std::string("State this host, port and the title '") + options.from +
                "' in the PACS, or give it more time by " + to_string(Option{"timeout"})
          : fmt::format(
                "It may report only on an association of its own, as Orthanc does: name a port by "
                "{}, and state it in the PACS",
                Option{"commit_port"});
  return fmt::format("the peer took the request, but no report came {} within {} s{}. {}", where,
                     options.timeout_s, loss.empty() ? "" : " (" + loss + ")", advice);
}

/// Waits on the association and at the listener; null at the limit, and then `loss` may say more.
std::unique_ptr<DcmDataset> wait_for_report(Association& association, ReportListener* listener,
                                            const std::string& transaction_uid, int timeout_s,
                                            std::string& loss) {
  constexpr std::chrono::milliseconds kTurn{100};
  const auto end = Clock::now() + std::chrono::seconds(timeout_s);
  while (Clock::now() < end && (listener != nullptr || !association.lost())) {
    const auto left = std::chrono::ceil<std::chrono::seconds>(end - Clock::now());
    const int limit_s = std::max(1, static_cast<int>(left.count()));
    if (listener != nullptr) {
      if (auto report = listener->wait(transaction_uid, kTurn, limit_s)) return report;
    }
    if (association.lost()) continue;
    // With a listener this is only a look; without, the whole time that is left.
    if (!ASC_dataWaiting(association.get(), listener != nullptr ? 0 : limit_s)) continue;
    auto report = receive_report(*association.get(), transaction_uid, limit_s);
    if (report.content) return std::move(report.content);
    if (report.condition.good()) continue;
    if (report.condition == DUL_PEERREQUESTEDRELEASE) ASC_acknowledgeRelease(association.get());
    loss = loss_text(association.lose(report.condition), timeout_s);
  }
  return nullptr;
}

Commitment read_report(DcmDataset& report, const std::vector<ObjectReference>& objects) {
  std::map<std::string, std::string> answers;  // empty: committed
  for (long i = 0; i < imaging::items_of(report, DCM_ReferencedSOPSequence); ++i) {
    DcmItem& item = *imaging::item_of(report, DCM_ReferencedSOPSequence, i);
    answers[imaging::text_of(item, DCM_ReferencedSOPInstanceUID)] = "";
  }
  for (long i = 0; i < imaging::items_of(report, DCM_FailedSOPSequence); ++i) {
    DcmItem& item = *imaging::item_of(report, DCM_FailedSOPSequence, i);
    const auto reason = imaging::number_of(item, DCM_FailureReason);
    answers[imaging::text_of(item, DCM_ReferencedSOPInstanceUID)] =
        reason ? commitment_failure_text(static_cast<std::uint16_t>(*reason)) : "no reason given";
  }
  Commitment commitment;
  for (const ObjectReference& object : objects) {
    const auto answer = answers.find(object.sop_instance_uid);
    if (answer != answers.end() && answer->second.empty()) {
      commitment.committed_uids.push_back(object.sop_instance_uid);
    } else {
      commitment.failures.push_back({object.sop_instance_uid, answer == answers.end()
                                                                  ? "not in the report"
                                                                  : answer->second});
    }
  }
  return commitment;
}

Commitment without_report(std::string reason) {
  Commitment commitment;
  commitment.reason = std::move(reason);
  return commitment;
}

}  // namespace

Commitment ask_commitment(Association& association, ReportListener* listener,
                          const std::vector<ObjectReference>& objects, const SendOptions& options) {
  if (association.lost()) return without_report("not asked for, since the association was lost");
  if (association.commitment().answer != ASC_P_ACCEPTANCE)
    return without_report("the peer does not support it");
  const std::string transaction_uid = new_transaction_uid(objects);
  DcmDataset content = request_content(objects, transaction_uid);
  const std::string refusal = request(association, content, options.timeout_s);
  if (!refusal.empty()) return without_report(refusal);
  std::string loss;
  const auto report =
      wait_for_report(association, listener, transaction_uid, options.timeout_s, loss);
  if (!report) return without_report(no_report_text(options, loss));
  return read_report(*report, objects);
}

}  // namespace headrace::handover
