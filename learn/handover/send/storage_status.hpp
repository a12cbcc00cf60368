#pragma once
#include <cstdint>
#include <string>

namespace headrace::handover {

enum class StatusKind { success, warning, failure };

/// What a status of a DIMSE answer is (DICOM PS3.7, annex C).
StatusKind kind_of_status(std::uint16_t status);

/// "status 0xA700, out of resources", by DICOM PS3.4, table B.2-1, and PS3.7, annex C.
std::string status_text(std::uint16_t status);

/// The name of a failure reason (0008,1197) of storage commitment (DICOM PS3.3, C.14.1.1).
std::string commitment_failure_text(std::uint16_t reason);

}  // namespace headrace::handover
