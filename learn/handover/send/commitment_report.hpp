#pragma once
// For use inside handover/send only: the report of a storage commitment, on either association.
#include <dcmtk/config/osconfig.h>
#include <dcmtk/dcmnet/dimse.h>

#include <memory>
#include <string>

namespace headrace::handover {

/// A report as it came, or the condition that ended the association.
struct ReceivedReport {
  OFCondition condition;
  std::unique_ptr<DcmDataset> content;  ///< null where none of this transaction came
};

/// Receives one N-EVENT-REPORT and answers it: with success where it is of this transaction, else
/// with a failure, and then `content` is null. `timeout_s` is for each of its parts.
ReceivedReport receive_report(T_ASC_Association& association, const std::string& transaction_uid,
                              int timeout_s);

}  // namespace headrace::handover
