#include "learn/config/planned_connections.hpp"

#include <algorithm>
#include <set>

#include "headrace/cohort/referenced_files.hpp"
#include "headrace/core/error.hpp"
#include "headrace/core/text.hpp"
#include "headrace/storage/network_hosts.hpp"
#include "headrace/storage/network_options.hpp"
#include "headrace/storage/open_store.hpp"
#include "headrace/storage/s3_site.hpp"

namespace headrace::config {
namespace {

using storage::Place;

/// The host that requests go to: of a bucket, that of its endpoint, or the bucket's own there.
std::string host_of_requests(const Place& place) {
  return storage::host_of(storage::is_s3(place) ? storage::s3_base(place) : place);
}

PlannedConnection to_place(const Place& place, std::string purpose, std::string named_by) {
  const bool s3 = storage::is_s3(place);
  return {host_of_requests(place), std::move(purpose),
          s3 ? fmt::format("{}, network.s3", named_by) : std::move(named_by),
          storage::host_is_named(place)};
}

}  // namespace

std::vector<PlannedConnection> planned_connections(const RunConfig& config) {
  std::vector<PlannedConnection> found;
  const Place store = Place::parse(config.data.store);
  if (store.is_url()) {
    found.push_back(to_place(store, "the store", "data.store"));
  } else {
    const auto references =
        cohort::read_references(*storage::open_existing_store(store, {.disk_cache = false}));
    if (!references.files.empty() && references.root.is_url())
      found.push_back(to_place(references.root, fmt::format("{} slides", references.files.size()),
                               fmt::format("references.json of {}", config.data.store)));
  }
  for (const RunConfig::Tracker& tracker : config.tracking) {
    if (!tracker.url.empty())
      found.push_back({storage::host_of(Place::parse(tracker.url)),
                       fmt::format("figures for {}", name_of(tracker.to)), "tracking", true});
  }
  for (const std::string& written : config.network.hosts) {
    const std::string host = lowered(written);
    const bool met = std::any_of(found.begin(), found.end(), [&](const PlannedConnection& one) {
      return one.host == host || one.host.starts_with(host + ":");
    });
    if (!met) found.push_back({host, "nothing that the config names", "network.hosts", true});
  }
  return found;
}

}  // namespace headrace::config
