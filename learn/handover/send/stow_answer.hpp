#pragma once
#include <string>

#include "learn/handover/send/send_files.hpp"

namespace headrace::handover {

/// What a web server answered to a request.
struct HttpAnswer {
  int status = 0;
  std::string content;
};

/// Puts outcome, status and reason of a STOW-RS answer in DICOM JSON (PS3.18, 10.5.3, and PS3.3,
/// tables of the Store Instances Response Module) into the file that was sent. Returns whether
/// other files may fare better: false after a refusal of who asks or of the address.
bool take_stow_answer(SentFile& file, const HttpAnswer& answer);

}  // namespace headrace::handover
