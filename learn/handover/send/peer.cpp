#include "learn/handover/send/peer.hpp"

#include <algorithm>
#include <charconv>

#include "headrace/core/error.hpp"

namespace headrace::handover {
namespace {

constexpr std::size_t kLongestTitle = 16;
// DCMTK keeps host and port in a text of 64 characters.
constexpr std::size_t kLongestHost = 56;

bool is_host(std::string_view host) {
  return !host.empty() && host.size() <= kLongestHost &&
         std::all_of(host.begin(), host.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                  c == '.' || c == '-' || c == '_';
         });
}

}  // namespace

std::string Peer::text() const { return fmt::format("{}@{}:{}", ae_title, host, port); }

void check_ae_title(std::string_view title) {
  const bool printable = std::all_of(title.begin(), title.end(),
                                     [](char c) { return c >= ' ' && c <= '~' && c != '\\'; });
  const bool blank = title.find_first_not_of(' ') == std::string_view::npos;
  if (!printable || blank || title.size() > kLongestTitle) {
    fail(ErrorCode::usage,
         "'{}' is no AE title: expected 1 to {} ASCII characters without backslash.", title,
         kLongestTitle);
  }
}

Peer parse_peer(std::string_view text) {
  const auto at = text.rfind('@');
  const auto colon = text.rfind(':');
  if (at == std::string_view::npos || colon == std::string_view::npos || colon < at) {
    fail(ErrorCode::usage, "'{}': expected AET@host:port, for example ORTHANC@pacs.example:104.",
         text);
  }
  Peer peer{std::string(text.substr(0, at)), std::string(text.substr(at + 1, colon - at - 1))};
  check_ae_title(peer.ae_title);
  if (!is_host(peer.host)) {
    fail(ErrorCode::usage,
         "'{}': '{}' is no host; expected a name or an IPv4 address of at most {} characters.",
         text, peer.host, kLongestHost);
  }
  const std::string_view port = text.substr(colon + 1);
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), peer.port);
  if (error != std::errc() || end != port.data() + port.size() || peer.port < 1 ||
      peer.port > 65535) {
    fail(ErrorCode::usage, "'{}': '{}' is no port; expected 1 to 65535.", text, port);
  }
  return peer;
}

}  // namespace headrace::handover
