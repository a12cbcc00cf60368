#include "headrace/storage/object_place.hpp"

namespace headrace::storage {
namespace {

bool is_encoded(const Place& place) {
  return place.scheme() == "http" || place.scheme() == "https";
}

}  // namespace

Place object_at(const Place& root, const std::string& key) {
  return root.join(is_encoded(root) ? percent_encoded(key) : key);
}

std::string key_in(const Place& place, const std::string& written) {
  return is_encoded(place) ? percent_decoded(written, place.describe()) : written;
}

}  // namespace headrace::storage
