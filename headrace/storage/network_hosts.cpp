#include "headrace/storage/network_hosts.hpp"

#include <algorithm>
#include <string_view>

#include "headrace/core/error.hpp"
#include "headrace/core/option_name.hpp"
#include "headrace/core/text.hpp"
#include "headrace/storage/network_options.hpp"
#include "headrace/storage/s3_site.hpp"

namespace headrace::storage {
namespace {

void check_no_user(const Place& url, std::string_view authority) {
  if (authority.find('@') == std::string_view::npos) return;
  fail(ErrorCode::usage,
       "{}://…@…: a URL with a user or a password is not taken: it would stand in logs and "
       "configs",
       url.scheme());
}

}  // namespace

void name_host_of(const std::string& written) {
  const Place place = Place::parse(written);
  if (place.scheme() != "http" && place.scheme() != "https") return;
  try {
    name_hosts({host_of(place)});
  } catch (const Error&) {
    // It is no place that could be opened: who opens it says so.
  }
}

std::string host_of(const Place& url) {
  const std::string& text = url.describe();
  std::string_view rest = std::string_view(text).substr(text.find("://") + 3);
  if (is_s3(url)) {
    const std::string_view bucket = rest.substr(0, rest.find('/'));
    // A secret may have a '/'; keys may have an '@'.
    check_no_user(url, bucket.find(':') == std::string_view::npos ? bucket : rest);
    return host_of(s3_endpoint());
  }
  if (rest.find_first_of("?#") != std::string_view::npos)
    fail(ErrorCode::usage, "{}: a URL with a query or a fragment can't be the place of a store",
         text.substr(0, text.find_first_of("?#")));
  rest = rest.substr(0, rest.find('/'));
  check_no_user(url, rest);
  if (rest.empty()) fail(ErrorCode::usage, "{}: a URL without a host", text);
  std::string host = lowered(rest);
  const std::size_t bracket = host.rfind(']');  // [::1]:80
  if (host.find(':', bracket == std::string::npos ? 0 : bracket) == std::string::npos)
    host += url.scheme() == "https" ? ":443" : ":80";
  return host;
}

bool host_is_named(const Place& place) {
  const std::string host = host_of(place);
  const std::string without_port = host.substr(0, host.rfind(':'));
  const std::string scheme = is_s3(place) ? s3_endpoint().scheme() : place.scheme();
  const bool usual = host.ends_with(scheme == "https" ? ":443" : ":80");
  const auto options = network();
  const auto& hosts = options->hosts;
  return std::any_of(hosts.begin(), hosts.end(), [&](const std::string& named) {
    return named == host || (usual && named == without_port);
  });
}

void check_host_is_named(const Place& place, const std::string& named_by) {
  if (!place.is_url() || host_is_named(place)) return;
  const std::string host = host_of(place);
  if (is_s3(place)) {
    fail(ErrorCode::usage,
         "{} lies at {}, to which no connection is opened unless you name it: network: {{s3: "
         "{{endpoint: \"{}\"}}}} in the config, or {} {}",
         named_by, host, s3_endpoint().describe(), Option{"s3_endpoint"}, s3_endpoint().describe());
  }
  fail(ErrorCode::usage,
       "{} names the host {}, to which no connection is opened unless you name it: network: "
       "{{hosts: [\"{}\"]}} in the config, or {} {}",
       named_by, host, host, Option{"allow_host"}, host);
}

}  // namespace headrace::storage
