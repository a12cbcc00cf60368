#include "learn/handover/send/network_text.hpp"

#include <dcmtk/dcmdata/dcuid.h>
#include <dcmtk/dcmnet/cond.h>
#include <dcmtk/dcmnet/dimse.h>

#include <string_view>

#include "headrace/core/error.hpp"
#include "headrace/core/option_name.hpp"

namespace headrace::handover {
namespace {

std::string_view source_text(T_ASC_RejectParametersSource source) {
  switch (source) {
    case ASC_SOURCE_SERVICEUSER:
      return "the application";
    case ASC_SOURCE_SERVICEPROVIDER_ACSE_RELATED:
      return "its association service";
    case ASC_SOURCE_SERVICEPROVIDER_PRESENTATION_RELATED:
      return "its presentation service";
  }
  return "an unknown part of it";
}

std::string reason_text(T_ASC_RejectParametersReason reason, const SendOptions& options) {
  switch (reason) {
    case ASC_REASON_SU_CALLEDAETITLENOTRECOGNIZED:
      return fmt::format("it is not called '{}'. Name its own AE title in {}.", options.to.ae_title,
                         Option{"to"});
    case ASC_REASON_SU_CALLINGAETITLENOTRECOGNIZED:
      return fmt::format(
          "it does not know the sender '{}'. Add it to the PACS, or give a title that it knows by "
          "{}.",
          options.from, Option{"from"});
    case ASC_REASON_SU_APPCONTEXTNAMENOTSUPPORTED:
      return "it does not know the application context.";
    case ASC_REASON_SP_ACSE_PROTOCOLVERSIONNOTSUPPORTED:
      return "it does not know this version of the protocol.";
    case ASC_REASON_SP_PRES_TEMPORARYCONGESTION:
      return "it is busy. Try again later.";
    case ASC_REASON_SP_PRES_LOCALLIMITEXCEEDED:
      return "its limit of associations is reached. Try again later.";
    case ASC_REASON_SU_NOREASON:
    case ASC_REASON_SP_ACSE_NOREASON:
      break;
  }
  return fmt::format(
      "it gives no reason. Ask who runs it whether it takes objects from '{}' at this address.",
      options.from);
}

std::string rejected(T_ASC_Parameters& parameters, const SendOptions& options) {
  T_ASC_RejectParameters reject{};
  if (ASC_getRejectParameters(&parameters, &reject).bad())
    return "the association was rejected without a reason.";
  return fmt::format("the association was rejected {} by {}: {}",
                     reject.result == ASC_RESULT_REJECTEDTRANSIENT ? "for now" : "for good",
                     source_text(reject.source), reason_text(reject.reason, options));
}

bool is_code(const OFCondition& condition, unsigned short code) {
  return condition.module() == OFM_dcmnet && condition.code() == code;
}

/// DCMTK's text behind its own prefix: "Connection refused"; it says the same of every time limit.
std::string connection_text(const OFCondition& condition, int timeout_s) {
  const std::string_view text = condition.text();
  if (text.find("Timeout") != std::string_view::npos)
    return fmt::format("no answer within {} s", timeout_s);
  const auto colon = text.find(": ");
  return std::string(colon == std::string_view::npos ? text : text.substr(colon + 2));
}

}  // namespace

std::string refusal_text(const OFCondition& condition, T_ASC_Parameters& parameters,
                         const SendOptions& options) {
  if (condition == DUL_ASSOCIATIONREJECTED) return rejected(parameters, options);
  if (is_code(condition, DULC_UNKNOWNHOST))
    return fmt::format("no host of the name '{}' is known. Check it.", options.to.host);
  if (is_code(condition, DULC_TCPINITERROR)) {
    return fmt::format(
        "no connection ({}). Check host and port, that the PACS runs, and that no firewall stands "
        "between.",
        connection_text(condition, options.timeout_s));
  }
  return fmt::format(
      "the connection stands, but no DICOM application answers ({}). Check the port; one that wants "
      "TLS is not supported.",
      loss_text(condition, options.timeout_s));
}

std::string loss_text(const OFCondition& condition, int timeout_s) {
  if (condition == DUL_READTIMEOUT || condition == DIMSE_NODATAAVAILABLE)
    return fmt::format("no answer within {} s", timeout_s);
  if (condition == DUL_PEERABORTEDASSOCIATION) return "it aborted the association";
  if (condition == DUL_PEERREQUESTEDRELEASE) return "it ended the association";
  if (condition == DUL_NETWORKCLOSED) return "the connection was closed";
  return condition.text();
}

std::string uid_name(const std::string& uid) {
  // Younger than the table of DCMTK 3.6.7.
  constexpr std::string_view kLabelMap = "1.2.840.10008.5.1.4.1.1.66.7";
  if (uid == kLabelMap) return "Label Map Segmentation Storage";
  const char* name = dcmFindNameOfUID(uid.c_str());
  return name == nullptr ? uid : name;
}

std::string presentation_text(T_ASC_P_ResultReason answer, const std::string& sop_class_uid,
                              const std::string& transfer_syntax_uid) {
  const std::string object = uid_name(sop_class_uid);
  const std::string syntax = uid_name(transfer_syntax_uid);
  switch (answer) {
    case ASC_P_ABSTRACTSYNTAXNOTSUPPORTED:
      return fmt::format("the peer does not take objects of {}", object);
    case ASC_P_TRANSFERSYNTAXESNOTSUPPORTED:
      return fmt::format("the peer does not take {} in transfer syntax {}", object, syntax);
    default:
      return fmt::format("the peer refuses {} in transfer syntax {} without a reason", object,
                         syntax);
  }
}

}  // namespace headrace::handover
