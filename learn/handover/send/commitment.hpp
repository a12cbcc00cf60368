#pragma once
// For use inside handover/send only: storage commitment (DICOM PS3.4, annex J, push model).
#include <string>
#include <vector>

#include "learn/handover/send/association.hpp"
#include "learn/handover/send/report_listener.hpp"
#include "learn/handover/send/send_files.hpp"

namespace headrace::handover {

struct ObjectReference {
  std::string sop_class_uid, sop_instance_uid;
};

/// Asks the peer to commit itself to keep objects that it has stored, and waits for its report on
/// this association, and at the listener where there is one. Objects that the report does not name
/// count as failed. Never throws for what the peer does: the reason is in the result.
Commitment ask_commitment(Association& association, ReportListener* listener,
                          const std::vector<ObjectReference>& objects, const SendOptions& options);

}  // namespace headrace::handover
