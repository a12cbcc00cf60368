#pragma once
#include <mutex>
#include <optional>
#include <string>

#include "learn/view/http/http_message.hpp"

namespace headrace::view {

/// Who may ask: only a browser that was given the token, from a page of this server.
///
///     token    32 random bytes as hex, made anew for each server; as a query of "/" it is exchanged
///              for a cookie, so that it leaves the address bar. 401 without one, 403 with another
///     Host     must name the bound address or this machine, so that a foreign page can't reach the
///              server under a name of its own (DNS rebinding); 403. Any port: tunnels change it
///     writing  PUT, POST and DELETE need the header X-Headrace, which a foreign page can't send
///              without permission (CSRF); 403
/// Safe from any thread.
class Access {
 public:
  /// bound: the numeric address that the server listens on; port names the cookie, since cookies of
  /// one host are shared by all its ports.
  Access(std::string bound, int port);

  const std::string& token() const noexcept { return token_; }
  /// A second token that is valid once, for a browser that is started by a command line, which
  /// other users of the machine can read.
  std::string token_for_one_use();

  /// The answer to a request that is not let in, or that brings the token; nothing: go on.
  std::optional<HttpResponse> answer(const HttpRequest& request);

 private:
  bool is_own_host(const std::string& host) const;
  bool takes(const std::string& token);

  const std::string bound_, cookie_, token_;
  std::mutex mutex_;
  std::string once_;  ///< empty: used, or none was given out
};

}  // namespace headrace::view
