#include "headrace/core/error.hpp"
#include "learn/view/http/http_server.hpp"

namespace headrace::view {

struct HttpServer::State {};

HttpServer::HttpServer(const HttpServerOptions&) {
  fail(ErrorCode::unsupported,
       "this build can't show images: it has no libmicrohttpd. Install libmicrohttpd-dev and build "
       "again with HR_WITH_VIEW=ON.");
}
HttpServer::~HttpServer() = default;
int HttpServer::port() const noexcept { return 0; }
void HttpServer::serve(Gate, Handler) {}
bool HttpServer::stop(double) { return true; }

}  // namespace headrace::view
