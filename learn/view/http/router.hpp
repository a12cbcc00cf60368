#pragma once
#include <functional>
#include <string>
#include <vector>

#include "learn/view/http/http_message.hpp"

namespace headrace::view {

/// Finds who answers a request. Immutable after the last add; safe from any thread.
class Router {
 public:
  /// The parts of the path that stand for "*", decoded; for "**" all that follow, with slashes.
  using Arguments = std::vector<std::string>;
  using Answer = std::function<HttpResponse(const HttpRequest&, const Arguments&)>;

  /// pattern: "api/items/*/findings"; "**" may only be its end.
  void add(HttpMethod method, const std::string& pattern, Answer answer);

  /// 404 where no pattern fits the path, 405 where one does for other methods. An Error becomes its
  /// sentence: 400 for usage, 404 for not_found, else 500.
  HttpResponse answer(const HttpRequest& request) const;

 private:
  struct Route {
    HttpMethod method;
    std::vector<std::string> pattern;
    Answer answer;
  };
  std::vector<Route> routes_;
};

}  // namespace headrace::view
