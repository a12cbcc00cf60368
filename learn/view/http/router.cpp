#include "learn/view/http/router.hpp"

#include <fmt/ranges.h>

#include <utility>

#include "headrace/core/error.hpp"
#include "headrace/core/text.hpp"

namespace headrace::view {
namespace {

constexpr const char* kOne = "*";
constexpr const char* kRest = "**";

std::optional<Router::Arguments> match(const std::vector<std::string>& pattern,
                                       const std::vector<std::string>& parts) {
  Router::Arguments out;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    if (i >= parts.size()) return std::nullopt;
    if (pattern[i] == kRest) {
      out.push_back(fmt::format(
          "{}", fmt::join(parts.begin() + static_cast<std::ptrdiff_t>(i), parts.end(), "/")));
      return out;
    }
    if (pattern[i] == kOne) {
      out.push_back(parts[i]);
    } else if (pattern[i] != parts[i]) {
      return std::nullopt;
    }
  }
  if (parts.size() != pattern.size()) return std::nullopt;
  return out;
}

int status_of(ErrorCode code) {
  if (code == ErrorCode::usage) return 400;
  return code == ErrorCode::not_found ? 404 : 500;
}

}  // namespace

void Router::add(HttpMethod method, const std::string& pattern, Answer answer) {
  auto parts = pattern.empty() ? std::vector<std::string>{} : split(pattern, '/');
  routes_.push_back({method, std::move(parts), std::move(answer)});
}

HttpResponse Router::answer(const HttpRequest& request) const {
  const auto parts = path_parts(request.path);
  std::vector<std::string> allowed;
  for (const Route& route : routes_) {
    const auto arguments = parts ? match(route.pattern, *parts) : std::nullopt;
    if (!arguments) continue;
    if (route.method != request.method) {
      allowed.emplace_back(name_of(route.method));
      continue;
    }
    try {
      return route.answer(request, *arguments);
    } catch (const Error& error) {
      return error_response(status_of(error.code()), error.what());
    }
  }
  if (allowed.empty()) return error_response(404, "There is nothing at this address.");
  HttpResponse response = error_response(405, "This address does not take this method.");
  response.headers = {{"Allow", fmt::format("{}", fmt::join(allowed, ", "))}};
  return response;
}

}  // namespace headrace::view
