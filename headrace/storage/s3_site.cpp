#include "headrace/storage/s3_site.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <string_view>

#include "headrace/core/environment.hpp"
#include "headrace/core/error.hpp"
#include "headrace/core/text.hpp"
#include "headrace/storage/network_hosts.hpp"
#include "headrace/storage/network_options.hpp"

namespace headrace::storage {
namespace {

constexpr std::string_view kScheme = "s3://";

/// The first that is set.
std::string first_variable(std::initializer_list<const char*> names) {
  for (const char* name : names) {
    if (std::string text = environment_variable(name); !text.empty()) return text;
  }
  return {};
}

std::string region_of(const S3Options& options) {
  if (!options.region.empty()) return options.region;
  const std::string region = first_variable({"AWS_REGION", "AWS_DEFAULT_REGION"});
  return region.empty() ? "us-east-1" : region;
}

/// It stands in host names and in the heads of requests.
std::string checked_region(const S3Options& options) {
  const std::string region = region_of(options);
  const bool plain = std::all_of(region.begin(), region.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-';
  });
  if (!plain)
    fail(ErrorCode::usage, "a region of S3 is a word like eu-west-1; it has other characters");
  return region;
}

std::string written_endpoint(const S3Options& options) {
  return options.endpoint.empty() ? first_variable({"AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"})
                                  : options.endpoint;
}

Place endpoint_of(const S3Options& options) {
  const std::string written = written_endpoint(options);
  if (!written.empty()) return s3_endpoint(written);
  return Place::parse(fmt::format("https://s3.{}.amazonaws.com", checked_region(options)));
}

bool is_bucket(std::string_view name) {
  return name.size() >= 3 && name.size() <= 63 && std::all_of(name.begin(), name.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                  c == '-' || c == '.' || c == '_';
         });
}

}  // namespace

bool is_s3(const Place& place) { return place.scheme() == "s3"; }

Place s3_endpoint() { return endpoint_of(network()->s3); }

Place s3_endpoint(const std::string& written) {
  std::string text = written;
  while (text.ends_with('/')) text.pop_back();
  const Place place = Place::parse(text);
  const bool http = place.scheme() == "http" || place.scheme() == "https";
  if (!http || text.find('/', text.find("://") + 3) != std::string::npos)
    fail(ErrorCode::usage, "'{}' is no endpoint of S3; expected a URL like https://s3.site:9000",
         text.find_first_of("@?#") != std::string::npos ? "…" : text);
  host_of(place);
  // As it stands in the header Host, which is signed.
  const std::string_view usual = place.scheme() == "https" ? ":443" : ":80";
  if (text.ends_with(usual)) text.resize(text.size() - usual.size());
  return Place::parse(text);
}

Place s3_base(const Place& place) {
  const S3Options options = network()->s3;
  const std::string rest = place.describe().substr(kScheme.size());
  const std::string bucket = rest.substr(0, rest.find('/'));
  if (!is_bucket(bucket))
    fail(ErrorCode::usage, "{}: '{}' is no name of a bucket; expected s3://bucket/key",
         place.describe(), bucket);
  std::string key = rest.substr(bucket.size());
  if (key.ends_with('/')) key.pop_back();
  for (const std::string& part : split(key.empty() ? "" : key.substr(1), '/')) {
    // Programs on the way take these out of a URL, which then is another key's.
    if (part == "." || part == ".." || (part.empty() && !key.empty()))
      fail(ErrorCode::usage, "{}: keys with empty parts, '.' or '..' between slashes can't be read",
           place.describe());
  }
  const std::string endpoint = endpoint_of(options).describe();
  const bool amazons = lowered(endpoint).ends_with(".amazonaws.com");
  const bool in_host = options.addressing == S3Addressing::host ||
                       (options.addressing == S3Addressing::automatic && amazons &&
                        bucket.find('.') == std::string::npos);
  const std::size_t host = endpoint.find("://") + 3;
  const std::string base =
      in_host ? fmt::format("{}{}.{}", endpoint.substr(0, host), bucket, endpoint.substr(host))
              : fmt::format("{}/{}", endpoint, bucket);
  return Place::parse(base + percent_encoded(key));
}

S3Site s3_site(const Place& place) {
  const S3Options options = network()->s3;
  Place base = s3_base(place);
  auto access = std::make_shared<S3Access>();
  access->region = checked_region(options);
  access->anonymous = options.anonymous;
  if (!options.anonymous) access->keys = find_s3_keys(options.profile);
  return {std::move(base), std::move(access)};
}

}  // namespace headrace::storage
