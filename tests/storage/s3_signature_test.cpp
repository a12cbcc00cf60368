#include "headrace/storage/s3_signature.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "headrace/storage/http_answer.hpp"
#include "headrace/storage/network_hosts.hpp"
#include "headrace/storage/network_options.hpp"
#include "headrace/storage/s3_site.hpp"
#include "tests/core/error_of.hpp"

namespace headrace::storage {
namespace {

using testing::HasSubstr;

// The examples of Amazon's own documentation, "Signature Calculations for the Authorization Header:
// Transferring Payload in a Single Chunk", for the keys AKIAIOSFODNN7EXAMPLE.
constexpr const char* kId = "AKIAIOSFODNN7EXAMPLE";
constexpr const char* kSecret = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY";
constexpr const char* kTime = "20130524T000000Z";

std::string signature_of(const S3Request& request) {
  const std::string text = s3_authorization(
      request, kId, s3_day_key(kSecret, "20130524", "us-east-1"), "us-east-1", kTime);
  return text.substr(text.find("Signature=") + 10);
}

S3Request request_of(const std::string& path) {
  return {path,
          {},
          {{"host", "examplebucket.s3.amazonaws.com"},
           {"x-amz-content-sha256", std::string(kNoBody)},
           {"x-amz-date", kTime}}};
}

TEST(S3Signature, IsThatOfAmazonsExamples) {
  S3Request object = request_of("/test.txt");
  object.headers["range"] = "bytes=0-9";
  EXPECT_EQ(signature_of(object),
            "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41");
  S3Request lifecycle = request_of("/");
  lifecycle.query = {{"lifecycle", ""}};
  EXPECT_EQ(signature_of(lifecycle),
            "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543");
  S3Request list = request_of("/");
  list.query = {{"max-keys", "2"}, {"prefix", "J"}};
  EXPECT_EQ(signature_of(list), "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7");
}

TEST(S3Signature, TextsAreEncoded) {
  EXPECT_EQ(percent_encoded("a b/ü+=~._-%"), "a%20b/%C3%BC%2B%3D~._-%25");
  EXPECT_EQ(query_text({{"b", "x/y z"}, {"a", ""}}), "a=&b=x%2Fy%20z");
}

TEST(S3Site, TheBucketStandsInThePathOrInTheHost) {
  NetworkOptions options;
  options.s3.anonymous = true;
  options.s3.endpoint = "http://S3.site:9000/";
  options.s3.region = "eu-west-2";
  set_network(options);
  const auto base = [](const char* url) { return s3_site(Place::parse(url)).base.describe(); };
  EXPECT_EQ(base("s3://slides/a b/ü.svs"), "http://S3.site:9000/slides/a%20b/%C3%BC.svs");
  EXPECT_EQ(base("s3://slides"), "http://S3.site:9000/slides");
  EXPECT_EQ(base("s3://slides/"), "http://S3.site:9000/slides");
  EXPECT_EQ(host_of(Place::parse("s3://slides/x")), "s3.site:9000");
  EXPECT_NO_THROW(check_host_is_named(Place::parse("s3://slides/x"), "x"));
  EXPECT_EQ(s3_site(Place::parse("s3://slides/x")).access->region, "eu-west-2");
  for (const char* none :
       {"s3:///x", "s3://a/x", "s3://a@b.c/x", "s3://b c d/x", "s3://slides//x", "s3://slides/a//x",
        "s3://slides/../x", "s3://slides/a/.", "s3://slides/./x"})
    error_of(ErrorCode::usage, [&] { base(none); });
  options.s3.endpoint = "https://s3.site:443";
  options.s3.addressing = S3Addressing::host;
  set_network(options);
  EXPECT_EQ(base("s3://slides/x"), "https://slides.s3.site/x");
  EXPECT_EQ(host_of(Place::parse("s3://slides/x")), "s3.site:443");
}

TEST(S3Site, AnEndpointIsAHost) {
  for (const char* none :
       {"", "s3.site:9000", "s3://b", "http://h/path", "http://u:p@h", "http://h?x"}) {
    const std::string said = error_of(ErrorCode::usage, [&] { s3_endpoint(none); });
    EXPECT_EQ(said.find("u:p"), std::string::npos) << said;
  }
}

TEST(S3Answer, SaysWhatIsRefused) {
  const auto verdict = [](const char* status, const char* code, const char* more = "X: y") {
    HttpHead head;
    head.take(status);
    head.take(more);
    head.code = code;
    return judge({5, 10, false, 100, {"\"e\"", "", ""}}, head, 0);
  };
  EXPECT_EQ(error_code("<?xml version=\"1.0\"?><Error><Code>NoSuchKey</Code><Message/>"),
            "NoSuchKey");
  EXPECT_EQ(error_code("<Code>No such</Code>"), "");
  EXPECT_EQ(error_code("<html>"), "");
  EXPECT_THAT(verdict("HTTP/1.1 403 x", "SignatureDoesNotMatch").why, HasSubstr("secret"));
  EXPECT_THAT(verdict("HTTP/1.1 404 x", "NoSuchBucket").why, HasSubstr("bucket"));
  EXPECT_EQ(verdict("HTTP/1.1 400 x", "ExpiredToken").kind, HttpVerdict::Kind::again);
  EXPECT_EQ(verdict("HTTP/1.1 400 x", "RequestTimeout").kind, HttpVerdict::Kind::again);
  EXPECT_THAT(verdict("HTTP/1.1 301 x", "PermanentRedirect", "x-amz-bucket-region: eu-west-1").why,
              HasSubstr("region: \"eu-west-1\""));
}

TEST(S3Answer, KnowsTheServersClock) {
  HttpHead head;
  head.take("HTTP/1.1 403 x");
  head.take("Date: Fri, 24 May 2013 00:00:00 GMT");
  EXPECT_EQ(head.date_s, 1369353600);
  head.take("HTTP/1.1 403 x");
  head.take("Date: yesterday");
  EXPECT_FALSE(head.date_s);
}

}  // namespace
}  // namespace headrace::storage
