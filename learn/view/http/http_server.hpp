#pragma once
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "learn/view/http/http_message.hpp"

namespace headrace::view {

struct HttpServerOptions {
  std::string bind = "127.0.0.1";  ///< a numeric address, IPv4 or IPv6
  int port = 0;                    ///< 0: a free one
  int threads = 0;                 ///< that answer; 0: every core, two at least
  std::size_t most_body_bytes = std::size_t{1} << 20;
};

/// An HTTP/1.1 server. One thread waits for all connections, so that slow and idle ones cost no
/// thread; a few others make the answers.
///
///     limits  connections, memory and idle time of each, size of bodies (413), of headers (431)
///     errors  of the constructor: usage (an address that is none), io (the port is taken),
///             unsupported (a build without libmicrohttpd)
class HttpServer {
 public:
  /// Called by the waiting thread when a request's headers are there, before its body is read; must
  /// be quick. A response ends the request.
  using Gate = std::function<std::optional<HttpResponse>(const HttpRequest&)>;
  /// Called by the answering threads, several at a time. What it throws becomes status 500.
  using Handler = std::function<HttpResponse(const HttpRequest&)>;

  explicit HttpServer(const HttpServerOptions& options);
  ~HttpServer();  ///< waits for the answers that are being made
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  int port() const noexcept;
  /// Connections are taken from here on; until then they wait.
  void serve(Gate gate, Handler handler);
  /// Takes no more requests, and answers those that wait with 503. False: some were still being
  /// answered after `seconds`.
  bool stop(double seconds);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace headrace::view
