#pragma once
#include <map>
#include <string>
#include <string_view>

namespace headrace::storage {

/// Of an account of S3.
struct S3Keys {
  std::string id, secret;
  std::string session_token;  ///< of keys that expire; else empty
  bool operator==(const S3Keys&) const = default;
};

/// What is signed of a request without a body.
struct S3Request {
  std::string path;                            ///< percent-encoded, from the host's '/' on
  std::map<std::string, std::string> query;    ///< not encoded
  std::map<std::string, std::string> headers;  ///< by name in lower case; `host` is one of them
};

/// As it stands in a URL behind the '?': '/' encoded too; empty for none.
std::string query_text(const std::map<std::string, std::string>& query);

/// The key by which one day's requests are signed. day: "20130524"
std::string s3_day_key(const std::string& secret, std::string_view day, const std::string& region);

/// The value of the header Authorization of a GET, by Signature Version 4 as Amazon S3 defines it
/// ("Authenticating Requests: Using the Authorization Header"). The path is encoded once.
/// time   "20130524T000000Z", which is the header x-amz-date, too
std::string s3_authorization(const S3Request& request, const std::string& key_id,
                             const std::string& day_key, const std::string& region,
                             const std::string& time);

/// The SHA-256 of no bytes: x-amz-content-sha256 of a request without a body.
inline constexpr std::string_view kNoBody =
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

}  // namespace headrace::storage
