#include "headrace/ingest/inputs/doubt.hpp"

#include <algorithm>

#include "headrace/core/log.hpp"
#include "headrace/core/option_name.hpp"

namespace headrace::ingest {

bool accepts(const Accepted& accepted, Doubt doubt) noexcept {
  return std::find(accepted.begin(), accepted.end(), doubt) != accepted.end();
}

void refuse_unless(const Accepted& accepted, Doubt doubt, ErrorCode code,
                   const std::string& sentence) {
  if (!accepts(accepted, doubt))
    fail(code, "{}. If it is meant, {} {} takes it", sentence, Option{"accept"}, name_of(doubt));
  log::warning("{}", sentence);
}

}  // namespace headrace::ingest
