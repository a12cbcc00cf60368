#pragma once
#include <sys/types.h>

#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>

#include "headrace/storage/http_answer.hpp"
#include "headrace/storage/network_counters.hpp"
#include "headrace/storage/s3_site.hpp"

namespace headrace::storage {

/// What came of a request.
struct HttpAnswer {
  bool absent = false;     ///< of one that opens an object: there is none
  std::uint64_t size = 0;  ///< of the object
  HttpVersion version;
  std::size_t bytes = 0;  ///< of the body, from the first of `dst` on
};

struct HttpRequest {
  std::string url;                           ///< percent-encoded
  std::string name;                          ///< of the object, for errors
  std::map<std::string, std::string> query;  ///< of a listing; not encoded
  HttpRange range;
  std::shared_ptr<const S3Access> s3;  ///< how it is signed; null: it is not of S3
  std::span<std::byte> dst;            ///< range.count bytes; must stay until `done` was called
  /// As ReadDone: called once, by the reactor's thread; neither throws nor waits.
  std::function<void(const HttpAnswer& answer, std::exception_ptr failure)> done;
};

/// Makes requests by one thread, which waits for all of them at once (libcurl's multi interface).
/// To a host at most NetworkOptions::connections are under way, others wait in their order. HTTP/1.1, no
/// redirect, no proxy of the environment, no cookie, no .netrc. A request whose answer is not
/// exactly what was asked for is made again, after a growing and random pause or what the server
/// asks for (Retry-After), until give_up_s have passed. Of S3 each attempt is signed anew. HostPace
/// says how fast a host is asked, and which requests are made twice. Safe from any thread.
class HttpReactor {
 public:
  /// That of this process; a forked one has its own. Errors: unsupported (no libcurl).
  static HttpReactor& shared();
  void start(HttpRequest request);
  const LiveCounters& counters() const;

  const pid_t process;  ///< where it was made

 private:
  HttpReactor();
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace headrace::storage
