#include "headrace/storage/store.hpp"

#include "headrace/core/error.hpp"

namespace headrace::storage {

std::vector<std::byte> Store::get(const std::string& key) const {
  const std::shared_ptr<const Object> object = open(key);
  if (!object) fail(ErrorCode::not_found, "{}: there is no such object", describe(key));
  std::vector<std::byte> bytes(object->size_bytes());
  object->read(0, bytes);
  return bytes;
}

std::string Store::get_text(const std::string& key) const {
  const std::vector<std::byte> bytes = get(key);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

void Store::put_text(const std::string& key, const std::string& text) {
  put(key, std::as_bytes(std::span(text)));
}

void Store::move_folder(const std::string& from, const std::string& to) {
  for (const std::string& key : list(from + "/")) {
    put(to + key.substr(from.size()), get(key));
    erase(key);
  }
}

}  // namespace headrace::storage
