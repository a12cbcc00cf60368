#include "learn/view/http/access.hpp"

#include <gtest/gtest.h>

namespace headrace::view {
namespace {

HttpRequest request(const std::string& path, std::map<std::string, std::string> headers = {}) {
  HttpRequest out;
  out.method = HttpMethod::get;
  out.path = path;
  out.headers = std::move(headers);
  out.headers.try_emplace("host", "127.0.0.1:8000");
  return out;
}

int status(Access& access, const HttpRequest& request) {
  const auto answer = access.answer(request);
  return answer ? answer->status : 0;
}

TEST(Access, TokenIsAskedForAndCompared) {
  Access access("127.0.0.1", 8000);
  EXPECT_EQ(access.token().size(), 64U);
  EXPECT_EQ(status(access, request("/api/items")), 401);
  EXPECT_EQ(status(access, request("/api/items", {{"authorization", "Bearer nonsense"}})), 403);
  EXPECT_EQ(status(access, request("/api/items", {{"authorization", "Bearer " + access.token()}})),
            0);
  HttpRequest with_cookie = request("/");
  with_cookie.cookies["headrace-8000"] = access.token();
  EXPECT_EQ(status(access, with_cookie), 0);
  with_cookie.cookies["headrace-8000"].back() ^= 1;
  EXPECT_EQ(status(access, with_cookie), 403);
  EXPECT_NE(Access("127.0.0.1", 8000).token(), access.token());
}

TEST(Access, TokenIsExchangedForACookie) {
  Access access("127.0.0.1", 8000);
  HttpRequest first = request("/");
  first.query["token"] = access.token();
  const auto moved = access.answer(first);
  ASSERT_TRUE(moved);
  EXPECT_EQ(moved->status, 303);
  EXPECT_EQ(moved->headers.at(1).second,
            "headrace-8000=" + access.token() + "; HttpOnly; SameSite=Strict; Path=/");
  first.query["token"] = "x";
  EXPECT_EQ(status(access, first), 403);
  HttpRequest elsewhere = request("/api/items");
  elsewhere.query["token"] = access.token();
  EXPECT_EQ(status(access, elsewhere), 401);
}

TEST(Access, TokenForOneUseIsValidOnce) {
  Access access("127.0.0.1", 8000);
  HttpRequest first = request("/");
  first.query["token"] = "";
  EXPECT_EQ(status(access, first), 403);  // none was given out
  first.query["token"] = access.token_for_one_use();
  EXPECT_EQ(status(access, first), 303);
  EXPECT_EQ(status(access, first), 403);
  EXPECT_EQ(status(access, request("/", {{"authorization", "Bearer " + first.query["token"]}})),
            403);
}

TEST(Access, ForeignHostNamesAreRefused) {
  Access access("127.0.0.1", 8000);
  const std::string bearer = "Bearer " + access.token();
  const auto of_host = [&](const std::string& host) {
    return status(access, request("/", {{"host", host}, {"authorization", bearer}}));
  };
  for (const char* own : {"127.0.0.1:8000", "localhost:9000", "LOCALHOST", "[::1]:8000"})
    EXPECT_EQ(of_host(own), 0) << own;
  for (const char* foreign :
       {"evil.example", "evil.example:8000", "127.0.0.1.evil.example", "192.168.1.5", "", "[::1"})
    EXPECT_EQ(of_host(foreign), 403) << foreign;
}

TEST(Access, BoundToAllAddressesItTakesAddressesButNoForeignNames) {
  Access access("0.0.0.0", 8000);
  const std::string bearer = "Bearer " + access.token();
  const auto of_host = [&](const std::string& host) {
    return status(access, request("/", {{"host", host}, {"authorization", bearer}}));
  };
  EXPECT_EQ(of_host("192.168.1.5:8000"), 0);
  EXPECT_EQ(of_host("evil.example"), 403);
}

TEST(Access, WritingNeedsTheHeaderThatForeignPagesCantSend) {
  Access access("127.0.0.1", 8000);
  HttpRequest put = request("/api/items/0/labels", {{"authorization", "Bearer " + access.token()}});
  for (const HttpMethod method : {HttpMethod::put, HttpMethod::post, HttpMethod::remove}) {
    put.method = method;
    put.headers.erase("x-headrace");
    EXPECT_EQ(status(access, put), 403);
    put.headers["x-headrace"] = "1";
    EXPECT_EQ(status(access, put), 0);
  }
}

}  // namespace
}  // namespace headrace::view
