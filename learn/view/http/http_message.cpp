#include "learn/view/http/http_message.hpp"

#include <span>

#include "headrace/core/text.hpp"

namespace headrace::view {
namespace {

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

/// source: RFC 3986, section 2.1
std::optional<std::string> decoded(const std::string& text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += text[i];
      continue;
    }
    if (i + 2 >= text.size()) return std::nullopt;
    const int high = hex_digit(text[i + 1]), low = hex_digit(text[i + 2]);
    if (high < 0 || low < 0) return std::nullopt;
    out += static_cast<char>(high * 16 + low);
    i += 2;
  }
  return out;
}

}  // namespace

std::optional<std::vector<std::string>> path_parts(const std::string& path) {
  if (path == "/") return std::vector<std::string>{};
  if (path.empty() || path.front() != '/') return std::nullopt;
  std::vector<std::string> parts;
  for (const std::string& part : split(path.substr(1), '/')) {
    auto text = decoded(part);
    if (!text || text->empty() || *text == "." || *text == ".." ||
        text->find('\0') != std::string::npos) {
      return std::nullopt;
    }
    parts.push_back(std::move(*text));
  }
  return parts;
}

std::shared_ptr<const Bytes> bytes_of(const std::string& text) {
  const auto bytes = std::as_bytes(std::span(text));
  return std::make_shared<const Bytes>(bytes.begin(), bytes.end());
}

HttpResponse json_response(const Json& json, int status) {
  return {status, "application/json", bytes_of(dump_json(json))};
}

HttpResponse error_response(int status, const std::string& sentence) {
  return json_response({{"error", sentence}}, status);
}

}  // namespace headrace::view
