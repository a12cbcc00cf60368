#include "learn/view/http/router.hpp"

#include <gtest/gtest.h>

#include "headrace/core/error.hpp"

namespace headrace::view {
namespace {

TEST(PathParts, AreDecodedAfterTheyWereSplit) {
  EXPECT_EQ(path_parts("/"), std::vector<std::string>{});
  EXPECT_EQ(path_parts("/a%2Fb/%c3%a4"), (std::vector<std::string>{"a/b", "ä"}));
  for (const char* path : {"", "a", "//", "/a/", "/a//b", "/..", "/a/../b", "/%2e%2e/b", "/.", "/%",
                           "/%2", "/%zz", "/a%00b", "/%2E."})
    EXPECT_FALSE(path_parts(path)) << path;
}

HttpRequest request(HttpMethod method, const std::string& path) {
  HttpRequest out;
  out.method = method;
  out.path = path;
  return out;
}

std::string text(const HttpResponse& response) {
  return {reinterpret_cast<const char*>(response.body->data()), response.body->size()};
}

Router some_router() {
  Router router;
  const auto show = [](const HttpRequest&, const Router::Arguments& a) {
    std::string joined;
    for (const auto& one : a) joined += "[" + one + "]";
    return HttpResponse{200, "text/plain", bytes_of(joined), {}};
  };
  router.add(HttpMethod::get, "", show);
  router.add(HttpMethod::get, "files/**", show);
  router.add(HttpMethod::get, "items/*/x/*", show);
  router.add(HttpMethod::put, "items/*/x/*", show);
  router.add(HttpMethod::get, "bad/*", [](const HttpRequest&, const Router::Arguments& a) {
    fail(a[0] == "usage" ? ErrorCode::usage : ErrorCode::corrupt, "it is bad");
    return HttpResponse{};
  });
  return router;
}

TEST(Router, FindsByPatternAndMethod) {
  const Router router = some_router();
  EXPECT_EQ(text(router.answer(request(HttpMethod::get, "/files/a/b.js"))), "[a/b.js]");
  EXPECT_EQ(text(router.answer(request(HttpMethod::get, "/items/7/x/a%2Fb"))), "[7][a/b]");
  EXPECT_EQ(router.answer(request(HttpMethod::get, "/")).status, 200);
  EXPECT_EQ(router.answer(request(HttpMethod::get, "/files")).status, 404);
  EXPECT_EQ(router.answer(request(HttpMethod::get, "/items/7/x")).status, 404);
  EXPECT_EQ(router.answer(request(HttpMethod::get, "/items/7/x/a/b")).status, 404);
  EXPECT_EQ(router.answer(request(HttpMethod::get, "/files/../x")).status, 404);
}

TEST(Router, OtherMethodsAreNamed) {
  const Router router = some_router();
  const HttpResponse response = router.answer(request(HttpMethod::post, "/items/7/x/1"));
  EXPECT_EQ(response.status, 405);
  EXPECT_EQ(response.headers.at(0).second, "GET, PUT");
  HttpRequest unknown = request(HttpMethod::get, "/");
  unknown.method.reset();
  EXPECT_EQ(router.answer(unknown).status, 405);
}

TEST(Router, ErrorsBecomeSentences) {
  const Router router = some_router();
  const HttpResponse usage = router.answer(request(HttpMethod::get, "/bad/usage"));
  EXPECT_EQ(usage.status, 400);
  EXPECT_EQ(parse_json(text(usage), "test")["error"], "it is bad");
  EXPECT_EQ(router.answer(request(HttpMethod::get, "/bad/other")).status, 500);
}

}  // namespace
}  // namespace headrace::view
