#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "headrace/core/enum_names.hpp"
#include "headrace/core/json.hpp"

namespace headrace::view {

/// The methods that the server knows; HEAD is answered as GET, without a body.
enum class HttpMethod { get, put, post, remove };

}  // namespace headrace::view

namespace headrace {
template <>
inline constexpr auto kNamesOf<view::HttpMethod> =
    names<view::HttpMethod>({{view::HttpMethod::get, "GET"},
                             {view::HttpMethod::put, "PUT"},
                             {view::HttpMethod::post, "POST"},
                             {view::HttpMethod::remove, "DELETE"}});
}  // namespace headrace

namespace headrace::view {

struct HttpRequest {
  std::optional<HttpMethod> method;          ///< nothing: one that the server does not know
  std::string path;                          ///< as it was sent, percent-encoded, without the query
  std::map<std::string, std::string> query;  ///< as they were sent
  std::map<std::string, std::string> headers;  ///< names in small letters
  std::map<std::string, std::string> cookies;
  std::string body;

  std::string header(const std::string& name) const {
    const auto found = headers.find(name);
    return found == headers.end() ? "" : found->second;
  }
};

/// The parts of a path between its slashes, decoded; "/" gives none. Nothing where the path is not
/// well formed: an escape that is none, a NUL, an empty part, or a part that is "." or "..".
std::optional<std::vector<std::string>> path_parts(const std::string& path);

using Bytes = std::vector<std::byte>;

struct HttpResponse {
  int status = 200;
  std::string type = "application/json";
  std::shared_ptr<const Bytes> body = std::make_shared<const Bytes>();
  std::vector<std::pair<std::string, std::string>> headers{};
};

HttpResponse json_response(const Json& json, int status = 200);
/// {"error": sentence}
HttpResponse error_response(int status, const std::string& sentence);
std::shared_ptr<const Bytes> bytes_of(const std::string& text);

}  // namespace headrace::view
