#include "headrace/storage/open_store.hpp"

#include <filesystem>

#include "headrace/core/error.hpp"
#include "headrace/storage/local_object.hpp"
#include "headrace/storage/local_store.hpp"

namespace headrace::storage {
namespace {

void check_scheme(const Place& place) {
  if (!place.is_url()) return;
  fail(ErrorCode::unsupported, "{}: reading from {} is not supported; copy the store to a folder",
       place.describe(), place.scheme());
}

}  // namespace

std::shared_ptr<Store> open_store(const Place& place, const StoreOptions& options) {
  check_scheme(place);
  return std::make_shared<LocalStore>(place.path(), options.max_open_files, options.durability);
}

std::shared_ptr<Store> open_existing_store(const Place& place, const StoreOptions& options) {
  auto store = open_store(place, options);
  if (!std::filesystem::is_directory(place.path()))
    fail(ErrorCode::not_found, "{}: there is no such store", place.describe());
  return store;
}

std::shared_ptr<const Object> open_object(const Place& place) {
  check_scheme(place);
  return open_local_object(place.path().string());
}

std::shared_ptr<const Object> open_input(const std::string& written) {
  const Place place = Place::parse(written);
  check_scheme(place);
  return open_existing_local_object(place.path().string());
}

}  // namespace headrace::storage
