#include "headrace/storage/open_store.hpp"

#include <filesystem>

#include "headrace/core/error.hpp"
#include "headrace/storage/http_store.hpp"
#include "headrace/storage/local_object.hpp"
#include "headrace/storage/local_store.hpp"
#include "headrace/storage/network_hosts.hpp"
#include "headrace/storage/object_place.hpp"
#include "headrace/storage/s3_site.hpp"

namespace headrace::storage {
namespace {

bool is_http(const Place& place) {
  return place.scheme() == "http" || place.scheme() == "https" || is_s3(place);
}

void check_scheme(const Place& place) {
  if (!place.is_url() || is_http(place)) return;
  fail(ErrorCode::unsupported, "{}: reading from {} is not supported; copy the store to a folder",
       place.describe(), place.scheme());
}

/// The object of a URL.
std::shared_ptr<const Object> open_by_http(const Place& place) {
  host_of(place);  // refuses what may hold a secret, before any sentence has it
  const std::string& url = place.describe();
  const std::size_t slash = url.rfind('/');
  if (slash < url.find("://") + 3 || slash + 1 == url.size())
    fail(ErrorCode::usage, "{}: expected the URL of an object", url);
  return open_http_store(Place::parse(url.substr(0, slash)))
      ->open(key_in(place, url.substr(slash + 1)));
}

}  // namespace

std::shared_ptr<Store> open_store(const Place& place, const StoreOptions& options) {
  check_scheme(place);
  if (is_http(place)) return open_http_store(place, options.disk_cache);
  return std::make_shared<LocalStore>(place.path(), options.max_open_files, options.durability);
}

std::shared_ptr<Store> open_existing_store(const Place& place, const StoreOptions& options) {
  auto store = open_store(place, options);
  if (!place.is_url() && !std::filesystem::is_directory(place.path()))
    fail(ErrorCode::not_found, "{}: there is no such store", place.describe());
  return store;
}

std::shared_ptr<const Object> open_object(const Place& place) {
  check_scheme(place);
  if (is_http(place)) return open_by_http(place);
  return open_local_object(place.path().string());
}

std::shared_ptr<const Object> open_input(const std::string& written) {
  const Place place = Place::parse(written);
  check_scheme(place);
  if (!is_http(place)) return open_existing_local_object(place.path().string());
  auto object = open_by_http(place);
  if (!object) fail(ErrorCode::not_found, "{}: there is no such object", written);
  return object;
}

}  // namespace headrace::storage
