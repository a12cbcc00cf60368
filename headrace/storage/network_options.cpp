#include "headrace/storage/network_options.hpp"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <string_view>

#include "headrace/core/error.hpp"
#include "headrace/core/of_this_process.hpp"
#include "headrace/core/option_name.hpp"

namespace headrace::storage {
namespace {

struct Shared {
  Shared() : process(getpid()) {}
  const pid_t process;
  std::mutex mutex;
  std::shared_ptr<const NetworkOptions> options = std::make_shared<NetworkOptions>();
};

// Never destroyed: the thread that makes requests goes on until the process ends.
std::atomic<Shared*> the_shared{nullptr};

Shared& shared() {
  // What a fork inherits: options are replaced, never changed.
  Shared* before = the_shared.load(std::memory_order_acquire);
  return of_this_process(the_shared, [&] {
    auto own = std::make_unique<Shared>();
    if (before != nullptr) own->options = before->options;
    return own;
  });
}

/// Requests take the options as they are when they begin.
template <typename Change>
void change(const Change& made) {
  Shared& state = shared();
  const std::lock_guard lock(state.mutex);
  auto options = std::make_shared<NetworkOptions>(*state.options);
  made(*options);
  state.options = std::move(options);
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
  change([&](NetworkOptions& options) {
    for (const std::string& host : hosts) {
      const std::string name = lower(host);
      auto& named = options.hosts;
      if (std::find(named.begin(), named.end(), name) == named.end()) named.push_back(name);
    }
  });
}

void name_host_of(const std::string& written) {
  const Place place = Place::parse(written);
  if (place.scheme() != "http" && place.scheme() != "https") return;
  try {
    name_hosts({host_of(place)});
  } catch (const Error&) {
    // It is no place that could be opened: who opens it says so.
  }
}

void set_network(const NetworkOptions& options) {
  name_hosts(options.hosts);
  change([&](NetworkOptions& now) {
    if (!options.ca_file.empty()) now.ca_file = options.ca_file;
    now.connections = options.connections;
    now.stall_s = options.stall_s;
    now.give_up_s = options.give_up_s;
  });
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
