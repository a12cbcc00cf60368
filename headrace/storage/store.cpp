#include "headrace/storage/store.hpp"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "headrace/core/error.hpp"
#include "headrace/core/posix.hpp"
#include "headrace/storage/local_object.hpp"
#include "headrace/storage/temporary_file.hpp"

namespace headrace::storage {

std::vector<std::byte> Object::head(std::size_t most) const {
  std::vector<std::byte> bytes(std::min<std::uint64_t>(most, size_bytes()));
  read(0, bytes);
  return bytes;
}

void Object::start_read(std::uint64_t offset, std::span<std::byte> dst,
                        const ReadDone& done) const {
  std::exception_ptr failure;
  try {
    read(offset, dst);
  } catch (...) {
    failure = std::current_exception();
  }
  done(failure);
}

void Store::start_open(const std::string& key, std::size_t tail_bytes, const OpenDone& done) const {
  OpenedTail opened;
  std::exception_ptr failure;
  try {
    opened.object = open(key);
    if (opened.object && tail_bytes > 0) {
      const std::uint64_t size = opened.object->size_bytes();
      opened.tail.resize(std::min<std::uint64_t>(tail_bytes, size));
      opened.object->read(size - opened.tail.size(), opened.tail);
    }
  } catch (...) {
    failure = std::current_exception();
  }
  done(std::move(opened), failure);
}

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

void Store::put_file(const std::string& key, std::uint64_t size_bytes,
                     const std::function<void(const std::string& path)>& write) {
  TemporaryFile file;
  if (const int error = file.create(std::filesystem::temp_directory_path().string(), 0600);
      error != 0) {
    fail(ErrorCode::io, "{} while making a temporary file for {} ({} bytes)",
         posix::describe_errno(error), describe(key), size_bytes);
  }
  write(file.path());
  const std::shared_ptr<const Object> written = open_local_object(file.path());
  if (!written)
    fail(ErrorCode::io, "{}: was removed before it was put as {}", file.path(), describe(key));
  std::vector<std::byte> bytes(written->size_bytes());
  written->read(0, bytes);
  put(key, bytes);
}

void Store::move_folder(const std::string& from, const std::string& to) {
  for (const std::string& key : list(from + "/")) {
    put(to + key.substr(from.size()), get(key));
    erase(key);
  }
}

}  // namespace headrace::storage
