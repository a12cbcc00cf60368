#include "headrace/storage/http_answer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "headrace/storage/network_hosts.hpp"
#include "headrace/storage/network_options.hpp"
#include "tests/core/error_of.hpp"

namespace headrace::storage {
namespace {

using Kind = HttpVerdict::Kind;
using testing::HasSubstr;

HttpHead head_of(std::initializer_list<const char*> lines) {
  HttpHead head;
  for (const char* line : lines) head.take(line);
  return head;
}

/// 10 bytes from 5 on of an object of 100.
HttpRange range() { return {5, 10, false, 100, {"\"e\"", "", ""}}; }

TEST(HttpAnswer, LinesAreReadInAnyCase) {
  const HttpHead head =
      head_of({"HTTP/1.1 100 Continue\r\n", "X: y\r\n", "HTTP/1.1 206 Partial\r\n",
               "CONTENT-RANGE:bytes 5-14/100\r\n", "Content-Length: 10\r\n", "etag: \"e\"\r\n",
               "Retry-After: 7\r\n", "\r\n"});
  EXPECT_EQ(head.status, 206);
  ASSERT_TRUE(head.range);
  EXPECT_EQ(head.range->first, 5U);
  EXPECT_EQ(head.range->last, 14U);
  EXPECT_EQ(head.total, 100U);
  EXPECT_EQ(head.length, 10U);
  EXPECT_EQ(head.version.etag, "\"e\"");
  EXPECT_EQ(head.retry_after_s, 7);
  EXPECT_EQ(judge(range(), head, 10).kind, Kind::good);
}

TEST(HttpAnswer, AWeakETagTellsNothing) {
  EXPECT_TRUE(head_of({"HTTP/1.1 206 x", "ETag: W/\"e\""}).version.etag.empty());
}

TEST(HttpAnswer, OnlyTheRangeThatWasAskedForIsTaken) {
  const auto verdict = [](const char* content_range, std::uint64_t received = 10,
                          const char* more = "ETag: \"e\"") {
    return judge(range(), head_of({"HTTP/1.1 206 x", content_range, more}), received).kind;
  };
  EXPECT_EQ(verdict("Content-Range: bytes 5-14/100"), Kind::good);
  for (const char* other : {"Content-Range: bytes 6-15/100", "Content-Range: bytes 5-13/100",
                            "Content-Range: bytes 5-15/100", "Content-Range: bytes 5-14/*",
                            "Content-Range: bytes 14-5/100", "Content-Range: items 5-14/100",
                            "Content-Range: bytes -5-14/100", "X: y"})
    EXPECT_EQ(verdict(other), Kind::again) << other;
  EXPECT_EQ(verdict("Content-Range: bytes 5-14/101"), Kind::wrong) << "another object";
  EXPECT_EQ(verdict("Content-Range: bytes 5-14/100", 9), Kind::again);
  EXPECT_EQ(verdict("Content-Range: bytes 5-14/100", 10, "ETag: \"f\""), Kind::wrong);
  EXPECT_EQ(verdict("Content-Range: bytes 5-14/100", 10, "X: y"), Kind::again);
}

TEST(HttpAnswer, AnOpeningTakesWhatThereIs) {
  const HttpRange first{0, 50, false, std::nullopt, {}}, last{0, 50, true, std::nullopt, {}};
  const auto verdict = [](const HttpRange& asked, std::initializer_list<const char*> lines,
                          std::uint64_t received) {
    return judge(asked, head_of(lines), received);
  };
  EXPECT_EQ(verdict(first, {"HTTP/1.1 206 x", "Content-Range: bytes 0-49/80"}, 50).size, 80U);
  EXPECT_EQ(verdict(last, {"HTTP/1.1 206 x", "Content-Range: bytes 30-79/80"}, 50).size, 80U);
  for (const HttpRange& asked : {first, last}) {
    EXPECT_EQ(verdict(asked, {"HTTP/1.1 206 x", "Content-Range: bytes 0-6/7"}, 7).size, 7U);
    EXPECT_EQ(verdict(asked, {"HTTP/1.1 416 x", "Content-Range: bytes */0"}, 0).kind, Kind::good);
    EXPECT_EQ(verdict(asked, {"HTTP/1.1 416 x"}, 0).kind, Kind::good) << "as Ceph answers";
    EXPECT_EQ(verdict(asked, {"HTTP/1.1 200 x", "Content-Length: 0"}, 0).kind, Kind::good);
    EXPECT_EQ(verdict(asked, {"HTTP/1.1 200 x", "Content-Length: 80"}, 80).kind, Kind::again);
    EXPECT_EQ(verdict(asked, {"HTTP/1.1 404 x"}, 0).kind, Kind::absent);
  }
  EXPECT_EQ(verdict(last, {"HTTP/1.1 206 x", "Content-Range: bytes 0-49/80"}, 50).kind,
            Kind::again);
}

TEST(HttpAnswer, StatusesSayWhetherToAskAgain) {
  for (const int status : {408, 429, 500, 502, 503, 504})
    EXPECT_EQ(judge(range(), head_of({fmt::format("HTTP/1.1 {} x", status).c_str()}), 0).kind,
              Kind::again);
  for (const int status : {301, 400, 401, 403, 404, 410, 412, 416})
    EXPECT_EQ(judge(range(), head_of({fmt::format("HTTP/1.1 {} x", status).c_str()}), 0).kind,
              Kind::wrong);
  const auto moved = judge(range(), head_of({"HTTP/1.1 302 x", "Location: http://a/b?sig=s"}), 0);
  EXPECT_THAT(moved.why, HasSubstr("http://a/b"));
  EXPECT_THAT(moved.why, testing::Not(HasSubstr("sig")));
}

TEST(Network, HostsHaveTheirPort) {
  EXPECT_EQ(host_of(Place::parse("http://Slides.Site/a/b")), "slides.site:80");
  EXPECT_EQ(host_of(Place::parse("https://slides.site")), "slides.site:443");
  EXPECT_EQ(host_of(Place::parse("https://slides.site:8443/x:y")), "slides.site:8443");
  EXPECT_EQ(host_of(Place::parse("http://[::1]/x")), "[::1]:80");
  EXPECT_EQ(host_of(Place::parse("http://[::1]:90/x")), "[::1]:90");
  for (const char* url : {"http://u:p@h/x", "http:///x", "http://h/x?q", "http://h/x#f"})
    error_of(ErrorCode::usage, [&] { host_of(Place::parse(url)); });
}

TEST(Network, OnlyNamedHostsAreSpokenTo) {
  const auto check = [](const char* url) { check_host_is_named(Place::parse(url), "r.json"); };
  check("/a/local/path");
  EXPECT_THAT(error_of(ErrorCode::usage, [&] { check("https://a.site/x"); }),
              HasSubstr("allow_host a.site:443"));
  name_hosts({"A.site", "b.site:8443"});
  check("https://a.site/x");
  check("http://a.site/x");
  check("https://b.site:8443/x");
  error_of(ErrorCode::usage, [&] { check("https://b.site/x"); });
  error_of(ErrorCode::usage, [&] { check("https://a.site:8443/x"); });
  error_of(ErrorCode::usage, [&] { check("https://xa.site/x"); });
  for (const char* none : {"", "a/b", "u@h", "a b"})
    error_of(ErrorCode::usage, [&] { name_hosts({none}); });
}

}  // namespace
}  // namespace headrace::storage
