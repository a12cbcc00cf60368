#include "learn/handover/send/commitment_report.hpp"

#include <dcmtk/dcmdata/dctk.h>

#include "headrace/imaging/dicom/dcmtk_file.hpp"

namespace headrace::handover {
namespace {

constexpr DIC_US kNoSuchInstance = 0x0112;
constexpr DIC_US kUnknownOperation = 0x0211;

OFCondition answer(T_ASC_Association& association, T_ASC_PresentationContextID id,
                   const T_DIMSE_N_EventReportRQ& request, DIC_US status) {
  T_DIMSE_Message message{};
  message.CommandField = DIMSE_N_EVENT_REPORT_RSP;
  T_DIMSE_N_EventReportRSP& response = message.msg.NEventReportRSP;
  response.MessageIDBeingRespondedTo = request.MessageID;
  response.DimseStatus = status;
  response.DataSetType = DIMSE_DATASET_NULL;
  response.EventTypeID = request.EventTypeID;
  OFStandard::strlcpy(response.AffectedSOPClassUID, request.AffectedSOPClassUID, sizeof(DIC_UI));
  OFStandard::strlcpy(response.AffectedSOPInstanceUID, request.AffectedSOPInstanceUID,
                      sizeof(DIC_UI));
  response.opts = O_NEVENTREPORT_AFFECTEDSOPCLASSUID | O_NEVENTREPORT_AFFECTEDSOPINSTANCEUID |
                  O_NEVENTREPORT_EVENTTYPEID;
  return DIMSE_sendMessageUsingMemoryData(&association, id, &message, nullptr, nullptr, nullptr,
                                          nullptr);
}

}  // namespace

ReceivedReport receive_report(T_ASC_Association& association, const std::string& transaction_uid,
                              int timeout_s) {
  T_ASC_PresentationContextID id = 0;
  T_DIMSE_Message message{};
  DcmDataset* raw = nullptr;
  OFCondition condition =
      DIMSE_receiveCommand(&association, DIMSE_NONBLOCKING, timeout_s, &id, &message, &raw);
  const std::unique_ptr<DcmDataset> detail(raw);
  if (condition.bad()) return {condition, nullptr};
  if (message.CommandField != DIMSE_N_EVENT_REPORT_RQ) return {DIMSE_BADCOMMANDTYPE, nullptr};
  const T_DIMSE_N_EventReportRQ& request = message.msg.NEventReportRQ;
  if (request.DataSetType == DIMSE_DATASET_NULL)
    return {answer(association, id, request, kUnknownOperation), nullptr};
  raw = nullptr;
  condition = DIMSE_receiveDataSetInMemory(&association, DIMSE_NONBLOCKING, timeout_s, &id, &raw,
                                           nullptr, nullptr);
  std::unique_ptr<DcmDataset> content(raw);
  if (condition.bad() || !content) return {condition, nullptr};
  const bool ours = imaging::text_of(*content, DCM_TransactionUID) == transaction_uid;
  condition = answer(association, id, request, ours ? STATUS_Success : kNoSuchInstance);
  if (!ours) content.reset();
  return {condition, std::move(content)};
}

}  // namespace headrace::handover
