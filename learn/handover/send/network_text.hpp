#pragma once
// For use inside handover/send only: what the network and the peer said, in sentences.
#include <dcmtk/config/osconfig.h>
#include <dcmtk/dcmnet/assoc.h>

#include <string>

#include "learn/handover/send/send_files.hpp"

namespace headrace::handover {

/// Why there is no association: no connection, no answer, or who refused and why. Sentences, the
/// last with what to do.
std::string refusal_text(const OFCondition& condition, T_ASC_Parameters& parameters,
                         const SendOptions& options);

/// Why a peer said nothing more on an association that it had accepted: "it closed the connection".
std::string loss_text(const OFCondition& condition, int timeout_s);

/// "Label Map Segmentation Storage"; the UID where the name is not known.
std::string uid_name(const std::string& uid);

/// Why a presentation context was not accepted: "it does not take … in …".
std::string presentation_text(T_ASC_P_ResultReason answer, const std::string& sop_class_uid,
                              const std::string& transfer_syntax_uid);

}  // namespace headrace::handover
