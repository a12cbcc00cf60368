#pragma once
#include <memory>
#include <string>
#include <vector>

#include "headrace/storage/place.hpp"

namespace headrace::storage {

/// How this process speaks to other machines.
struct NetworkOptions {
  /// Hosts that may be spoken to beside those of URLs that a user gave: "slides.site" (the scheme's
  /// port) or "slides.site:8443".
  std::vector<std::string> hosts;
  std::string
      ca_file;  ///< certificates of the authorities that are trusted (PEM); empty: the system's
  int connections = 64;  ///< at once, to one host
  int stall_s = 10;      ///< a request on which no byte came for so long is made again
  int give_up_s = 60;    ///< after so long a request that does not succeed is an error
  bool operator==(const NetworkOptions&) const = default;
};

/// Adds hosts to those that may be spoken to. Errors: usage (one that is none, or has a path). Safe
/// from any thread.
void name_hosts(const std::vector<std::string>& hosts);
/// Adds that of a place that a user gave, where it is a URL. Never fails: of a URL that can't be
/// opened, who opens it tells why.
void name_host_of(const std::string& written);
/// Sets all else for the requests that begin from now on (an empty ca_file stays what it was), and
/// adds the hosts. Errors, threads: the
/// same.
void set_network(const NetworkOptions& options);
std::shared_ptr<const NetworkOptions> network();

/// "host:port" of a URL over HTTP, in lower case, with the scheme's port where it states none.
/// Errors: usage (no host, a user or password in it, a query or fragment).
std::string host_of(const Place& url);

/// Errors: usage (its host was not named; says how to name it). Local places pass. Every HTTP store is
/// checked so; who knows what named the place says it.
void check_host_is_named(const Place& place, const std::string& named_by);

}  // namespace headrace::storage
