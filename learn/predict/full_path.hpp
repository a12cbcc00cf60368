#pragma once
#include <string>

namespace headrace::predict {

/// The absolute path without "." and "..", and without a slash at its end, so that one file has one
/// name; a URL as it is.
std::string full_path(const std::string& path);

}  // namespace headrace::predict
