// Built instead of the web sender where libcurl or DCMTK is missing.
#include "headrace/core/error.hpp"
#include "learn/handover/send/stow_files.hpp"

namespace headrace::handover {

SendReport stow_files(const std::vector<std::string>&, const StowOptions& options) {
  fail(ErrorCode::unsupported,
       "{}: this build sends nothing to web addresses. Build with HR_WITH_CURL=ON (needs "
       "libcurl4-openssl-dev) and HR_WITH_DCMTK=ON, or send to AET@host:port.",
       options.to);
}

}  // namespace headrace::handover
