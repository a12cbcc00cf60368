#include "learn/handover/send/web_credentials.hpp"

#include <algorithm>
#include <cstdlib>

#include "headrace/core/error.hpp"

namespace headrace::handover {
namespace {

/// A control character would end the header that the value stands in.
std::string value_of(const char* variable) {
  const char* text = std::getenv(variable);
  const std::string value = text == nullptr ? "" : text;
  if (std::any_of(value.begin(), value.end(),
                  [](unsigned char c) { return c < ' ' || c == 0x7F; })) {
    fail(ErrorCode::usage,
         "{} holds a line break or another control character. Set it to one line.", variable);
  }
  return value;
}

}  // namespace

WebCredentials web_credentials_from_environment() {
  const WebCredentials credentials{value_of(kWebUserVariable), value_of(kWebTokenVariable)};
  if (!credentials.user_password.empty() && !credentials.token.empty()) {
    fail(ErrorCode::usage, "{} and {} are both set. Unset the one that the PACS does not take.",
         kWebUserVariable, kWebTokenVariable);
  }
  if (!credentials.user_password.empty() &&
      credentials.user_password.find(':') == std::string::npos) {
    fail(ErrorCode::usage, "{} has no colon, expected name:password.", kWebUserVariable);
  }
  return credentials;
}

}  // namespace headrace::handover
