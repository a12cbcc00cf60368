#include "learn/view/http/access.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <sys/random.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "headrace/core/error.hpp"
#include "headrace/core/text.hpp"

namespace headrace::view {
namespace {

constexpr std::size_t kTokenBytes = 32;

std::string new_token() {
  std::array<unsigned char, kTokenBytes> bytes{};
  // Requests of up to 256 bytes are not interrupted once the system's pool is ready.
  if (getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
    fail(ErrorCode::io, "the system gives no random bytes for a token: {}", std::strerror(errno));
  std::string text;
  for (const unsigned char byte : bytes) text += fmt::format("{:02x}", byte);
  return text;
}

/// In a time that does not tell how much is right.
bool equal(const std::string& given, const std::string& secret) {
  if (secret.empty() || given.size() != secret.size()) return false;
  unsigned char difference = 0;
  for (std::size_t i = 0; i < secret.size(); ++i)
    difference |= static_cast<unsigned char>(given[i] ^ secret[i]);
  return difference == 0;
}

/// The name or address in a Host header, without port and brackets.
std::string host_name(const std::string& header) {
  if (header.starts_with('[')) {
    const auto end = header.find(']');
    return end == std::string::npos ? "" : header.substr(1, end - 1);
  }
  return header.substr(0, header.find(':'));
}

bool is_address(const std::string& host) {
  std::array<unsigned char, 16> bytes{};
  return inet_pton(AF_INET, host.c_str(), bytes.data()) == 1 ||
         inet_pton(AF_INET6, host.c_str(), bytes.data()) == 1;
}

std::string machine_name() {
  std::array<char, 256> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? lowered(name.data()) : "";
}

}  // namespace

Access::Access(std::string bound, int port)
    : bound_(std::move(bound)), cookie_(fmt::format("headrace-{}", port)), token_(new_token()) {}

std::string Access::token_for_one_use() {
  const std::lock_guard lock(mutex_);
  once_ = new_token();
  return once_;
}

bool Access::takes(const std::string& token) {
  if (equal(token, token_)) return true;
  const std::lock_guard lock(mutex_);
  if (!equal(token, once_)) return false;
  once_.clear();
  return true;
}

bool Access::is_own_host(const std::string& header) const {
  const std::string host = lowered(host_name(header));
  if (host == bound_ || host == "localhost" || host == "127.0.0.1" || host == "::1") return true;
  const bool any = bound_ == "0.0.0.0" || bound_ == "::";
  // A rebound name is a name: addresses can't be taken over so.
  return any && (is_address(host) || (!host.empty() && host == machine_name()));
}

std::optional<HttpResponse> Access::answer(const HttpRequest& request) {
  if (!is_own_host(request.header("host"))) {
    return error_response(403,
                          "The Host header names another machine; use the address that "
                          "headrace view printed.");
  }
  if (request.path == "/" && request.query.contains("token")) {
    if (!takes(request.query.at("token")))
      return error_response(403, "This token is not that of the running server.");
    HttpResponse moved{303, "text/plain"};
    moved.headers = {
        {"Location", "/"},
        {"Set-Cookie", fmt::format("{}={}; HttpOnly; SameSite=Strict; Path=/", cookie_, token_)}};
    return moved;
  }
  const auto cookie = request.cookies.find(cookie_);
  const std::string bearer = request.header("authorization");
  const bool has_bearer = bearer.starts_with("Bearer ");
  if (!has_bearer && cookie == request.cookies.end()) {
    return error_response(401, "No token; open the address that headrace view printed.");
  }
  if (!equal(has_bearer ? bearer.substr(7) : cookie->second, token_))
    return error_response(403, "This token is not that of the running server.");
  if (request.method != HttpMethod::get && request.method && request.header("x-headrace").empty())
    return error_response(403, "A request that changes something needs the header X-Headrace: 1.");
  return std::nullopt;
}

}  // namespace headrace::view
