#include "headrace/storage/network_options.hpp"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <mutex>

#include "headrace/core/error.hpp"
#include "headrace/core/of_this_process.hpp"
#include "headrace/core/option_name.hpp"
#include "headrace/core/text.hpp"
#include "headrace/storage/disk_cache.hpp"
#include "headrace/storage/network_hosts.hpp"
#include "headrace/storage/s3_site.hpp"

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

}  // namespace

void name_hosts(const std::vector<std::string>& hosts) {
  for (const std::string& host : hosts) {
    if (host.empty() || host.find_first_of("/@?# ") != std::string::npos)
      fail(ErrorCode::usage, "'{}' is no host; expected a name like slides.site:8443", host);
  }
  change([&](NetworkOptions& options) {
    for (const std::string& host : hosts) {
      const std::string name = lowered(host);
      auto& named = options.hosts;
      if (std::find(named.begin(), named.end(), name) == named.end()) named.push_back(name);
    }
  });
}

void set_network(const NetworkOptions& options) {
  name_hosts(options.hosts);
  const S3Options& s3 = options.s3;
  if (!s3.endpoint.empty()) name_hosts({host_of(s3_endpoint(s3.endpoint))});
  DiskCache::check(options.cache);
  change([&](NetworkOptions& now) {
    if (!options.ca_file.empty()) now.ca_file = options.ca_file;
    now.connections = options.connections;
    now.stall_s = options.stall_s;
    now.give_up_s = options.give_up_s;
    if (s3 != S3Options{}) now.s3 = s3;
    if (options.cache != CacheOptions{}) now.cache = options.cache;
  });
}

void use_cache(const CacheOptions& cache) {
  if (!(cache.size_gb >= 0.001 && cache.size_gb <= 1e6))
    fail(ErrorCode::usage, "{} is {:g}: expected 0.001 to 1e6", Option{"size_gb"}, cache.size_gb);
  DiskCache::check(cache);
  change([&](NetworkOptions& now) { now.cache = cache; });
}

std::shared_ptr<const NetworkOptions> network() {
  const std::lock_guard lock(shared().mutex);
  return shared().options;
}

}  // namespace headrace::storage
