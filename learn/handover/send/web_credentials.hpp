#pragma once
#include <string>

namespace headrace::handover {

/// How a sender says who it is to a web server. At most one is not empty.
struct WebCredentials {
  std::string user_password;  ///< "name:password", sent as HTTP Basic
  std::string token;          ///< sent as HTTP Bearer

  bool given() const { return !user_password.empty() || !token.empty(); }
};

/// Environment variables, since a command line can be read by every user of a machine.
inline constexpr const char* kWebUserVariable = "HEADRACE_DICOMWEB_USER";
inline constexpr const char* kWebTokenVariable = "HEADRACE_DICOMWEB_TOKEN";

/// Those of the two variables above; none where neither is set. Errors: usage (both are set, no
/// colon, a line break), which never contain the secret.
WebCredentials web_credentials_from_environment();

}  // namespace headrace::handover
