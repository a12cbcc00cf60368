// Built instead of the sender with HR_WITH_DCMTK=OFF.
#include "headrace/core/error.hpp"
#include "learn/handover/send/send_files.hpp"

namespace headrace::handover {

SendReport send_files(const std::vector<std::string>&, const SendOptions& options) {
  fail(ErrorCode::unsupported,
       "{}: this build sends no DICOM. Build with HR_WITH_DCMTK=ON (needs libdcmtk-dev and "
       "libopenjp2-7-dev).",
       options.to.text());
}

}  // namespace headrace::handover
