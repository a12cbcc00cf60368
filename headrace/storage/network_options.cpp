#include "headrace/storage/network_options.hpp"

#include <algorithm>
#include <mutex>
#include <string_view>

#include "headrace/core/error.hpp"
#include "headrace/core/option_name.hpp"

namespace headrace::storage {
namespace {

struct Shared {
  std::mutex mutex;
  std::shared_ptr<const NetworkOptions> options = std::make_shared<NetworkOptions>();
};

Shared& shared() {
  static Shared state;
  return state;
}

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  return text;
}

}  // namespace

void name_hosts(const std::vector<std::string>& hosts) {
  for (const std::string& host : hosts) {
    if (host.empty() || host.find_first_of("/@?# ") != std::string::npos)
      fail(ErrorCode::usage, "'{}' is no host; expected a name like slides.site:8443", host);
  }
  const std::lock_guard lock(shared().mutex);
  auto options = std::make_shared<NetworkOptions>(*shared().options);
  for (const std::string& host : hosts) options->hosts.push_back(lower(host));
  shared().options = std::move(options);
}

void set_network(const NetworkOptions& options) {
  name_hosts(options.hosts);
  const std::lock_guard lock(shared().mutex);
  auto set = std::make_shared<NetworkOptions>(options);
  set->hosts = shared().options->hosts;
  shared().options = std::move(set);
}

std::shared_ptr<const NetworkOptions> network() {
  const std::lock_guard lock(shared().mutex);
  return shared().options;
}

std::string host_of(const Place& url) {
  const std::string& text = url.describe();
  std::string_view rest = std::string_view(text).substr(text.find("://") + 3);
  if (rest.find_first_of("?#") != std::string_view::npos)
    fail(ErrorCode::usage, "{}: a URL with a query or a fragment can't be the place of a store",
         text.substr(0, text.find_first_of("?#")));
  rest = rest.substr(0, rest.find('/'));
  if (rest.find('@') != std::string_view::npos)
    fail(ErrorCode::usage,
         "{}://…@…: a URL with a user or a password is not taken: it would stand in logs and "
         "configs",
         url.scheme());
  if (rest.empty()) fail(ErrorCode::usage, "{}: a URL without a host", text);
  std::string host = lower(std::string(rest));
  const std::size_t bracket = host.rfind(']');  // [::1]:80
  if (host.find(':', bracket == std::string::npos ? 0 : bracket) == std::string::npos)
    host += url.scheme() == "https" ? ":443" : ":80";
  return host;
}

void check_host_is_named(const Place& place, const std::string& named_by) {
  if (!place.is_url()) return;
  const std::string host = host_of(place);
  const std::string without_port = host.substr(0, host.rfind(':'));
  const bool usual = host.ends_with(place.scheme() == "https" ? ":443" : ":80");
  const auto options = network();
  for (const std::string& named : options->hosts) {
    if (named == host || (usual && named == without_port)) return;
  }
  fail(ErrorCode::usage,
       "{} names the host {}, to which no connection is opened unless you name it: network: "
       "{{hosts: [\"{}\"]}} in the config, or {} {}",
       named_by, host, host, Option{"allow_host"}, host);
}

}  // namespace headrace::storage
