#include "headrace/storage/s3_signature.hpp"

#include <fmt/format.h>

#include "headrace/core/sha256.hpp"
#include "headrace/storage/place.hpp"

namespace headrace::storage {

std::string query_text(const std::map<std::string, std::string>& query) {
  const auto encoded = [](const std::string& text) {
    std::string out = percent_encoded(text);
    for (std::size_t at = 0; (at = out.find('/', at)) != std::string::npos;)
      out.replace(at, 1, "%2F");
    return out;
  };
  std::string text;
  for (const auto& [name, value] : query)
    text += fmt::format("{}{}={}", text.empty() ? "" : "&", encoded(name), encoded(value));
  return text;
}

std::string s3_day_key(const std::string& secret, std::string_view day, const std::string& region) {
  std::string key = "AWS4" + secret;
  for (const std::string_view part :
       {day, std::string_view(region), std::string_view("s3"), std::string_view("aws4_request")})
    key = hmac_sha256(key, part);
  return key;
}

std::string s3_authorization(const S3Request& request, const std::string& key_id,
                             const std::string& day_key, const std::string& region,
                             const std::string& time) {
  std::string lines, names;
  for (const auto& [name, value] : request.headers) {
    lines += fmt::format("{}:{}\n", name, value);
    names += (names.empty() ? "" : ";") + name;
  }
  const std::string canonical = fmt::format("GET\n{}\n{}\n{}\n{}\n{}", request.path,
                                            query_text(request.query), lines, names, kNoBody);
  const std::string scope = fmt::format("{}/{}/s3/aws4_request", time.substr(0, 8), region);
  const std::string signed_text =
      fmt::format("AWS4-HMAC-SHA256\n{}\n{}\n{}", time, scope, sha256_hex(canonical));
  return fmt::format("AWS4-HMAC-SHA256 Credential={}/{}, SignedHeaders={}, Signature={}", key_id,
                     scope, names, hex_text(hmac_sha256(day_key, signed_text)));
}

}  // namespace headrace::storage
