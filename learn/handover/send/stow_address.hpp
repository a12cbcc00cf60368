#pragma once
// For use inside handover/send only.
#include <string>

#include "learn/handover/send/stow_files.hpp"

namespace headrace::handover {

/// Where `to` stores objects: "https://pacs.example/dicom-web/studies". Errors: usage (no web
/// address, a user, password, '?' or '#' in it; credentials for another machine without https).
std::string stow_address(const StowOptions& options);

}  // namespace headrace::handover
