#include "headrace/storage/local_store.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "headrace/core/error.hpp"
#include "headrace/core/posix.hpp"
#include "headrace/storage/local_object.hpp"
#include "headrace/storage/store_lock.hpp"
#include "headrace/storage/temporary_file.hpp"

namespace headrace::storage {
namespace {

bool is_temporary(const std::filesystem::path& path) {
  return path.filename().string().starts_with(kTemporaryPrefix);
}

// A key is a relative path without "." and "..", so that nothing outside the root can be reached.
void check_key(const std::string& key) {
  std::size_t begin = 0;
  while (true) {
    const std::size_t end = std::min(key.find('/', begin), key.size());
    const std::string_view part = std::string_view(key).substr(begin, end - begin);
    if (part.empty() || part == "." || part == ".." || part.starts_with(kTemporaryPrefix) ||
        part.find('\0') != std::string_view::npos) {
      fail(ErrorCode::usage, "store key '{}': part '{}' is not allowed in a key", key, part);
    }
    if (end == key.size()) return;
    begin = end + 1;
  }
}

}  // namespace

LocalStore::LocalStore(std::filesystem::path root, std::size_t max_open_files,
                       Durability durability)
    : root_(std::move(root)),
      max_open_files_(std::max<std::size_t>(max_open_files, 1)),
      durability_(durability) {}

std::string LocalStore::describe(const std::string& key) const {
  return key.empty() ? root_.string() : (root_ / key).string();
}

std::shared_ptr<const Object> LocalStore::open(const std::string& key) const {
  check_key(key);
  std::uint64_t changes = 0;
  {
    const std::lock_guard lock(mutex_);
    changes = changes_;
    if (const auto found = open_.find(key); found != open_.end()) {
      recent_.splice(recent_.begin(), recent_, found->second.position);
      return found->second.object;
    }
  }
  const std::string path = describe(key);
  bool out_of_descriptors = false;
  std::shared_ptr<const Object> object = open_local_object(path, &out_of_descriptors);
  if (out_of_descriptors) {
    {
      const std::lock_guard lock(mutex_);
      open_.clear();
      recent_.clear();
    }
    object = open_local_object(path);
  }
  if (!object) return nullptr;
  const std::lock_guard lock(mutex_);
  if (const auto found = open_.find(key); found != open_.end()) return found->second.object;
  if (changes != changes_) return object;
  recent_.push_front(key);
  open_.emplace(key, Entry{object, recent_.begin()});
  while (open_.size() > max_open_files_) {
    open_.erase(recent_.back());
    recent_.pop_back();
  }
  return object;
}

// Asks the disk: a descriptor that is kept open outlives its file.
bool LocalStore::still_has(const std::string& key) const {
  check_key(key);
  struct stat info {};
  return posix::calls().stat(describe(key).c_str(), &info) == 0;
}

void LocalStore::put(const std::string& key, std::span<const std::byte> bytes) {
  put_by(key, bytes.size(),
         [&](int fd, const std::string&) { return posix::write_all(fd, bytes); });
}

void LocalStore::put_file(const std::string& key, std::uint64_t size_bytes,
                          const std::function<void(const std::string& path)>& write) {
  put_by(key, size_bytes, [&](int, const std::string& path) {
    write(path);
    return 0;
  });
}

// `write` returns 0 or an errno.
void LocalStore::put_by(const std::string& key, std::uint64_t size_bytes,
                        const std::function<int(int fd, const std::string& path)>& write) {
  check_key(key);
  const std::string path = describe(key);
  const std::string folder = std::filesystem::path(path).parent_path().string();
  const auto refuse = [&](int error) {
    fail(ErrorCode::io, "{} while writing {} ({} bytes) to {}; nothing was stored under that key",
         posix::describe_errno(error), key, size_bytes, root_.string());
  };
  if (const int error = posix::make_folders(folder); error != 0) refuse(error);
  TemporaryFile file;
  if (const int error = file.create(folder, 0644); error != 0) refuse(error);
  if (const int error = write(file.fd(), file.path()); error != 0) refuse(error);
  const bool now = durability_ == Durability::each_put;
  if (const int error = file.put_in_place(path, now); error != 0) refuse(error);
  forget(key);
  if (const int error = now ? posix::sync_folder(folder) : 0; error != 0) {
    fail(ErrorCode::io, "{} while syncing the folder of {} in {}", posix::describe_errno(error),
         key, root_.string());
  }
}

void LocalStore::erase(const std::string& key) {
  check_key(key);
  const std::string path = describe(key);
  forget(key);
  if (posix::calls().unlink(path.c_str()) == 0 || errno == ENOENT || errno == ENOTDIR) return;
  fail(ErrorCode::io, "{}: cannot be removed: {}", path, posix::describe_errno(errno));
}

void LocalStore::move_folder(const std::string& from, const std::string& to) {
  check_key(from);
  check_key(to);
  const auto refuse = [&](int error) {
    fail(ErrorCode::io, "{} while moving {} to {} in {}", posix::describe_errno(error), from, to,
         root_.string());
  };
  const std::string parent = std::filesystem::path(describe(to)).parent_path().string();
  if (const int error = posix::make_folders(parent); error != 0) refuse(error);
  if (list(to + "/").empty()) {  // folders of objects that were erased
    std::error_code ignored;
    std::filesystem::remove_all(describe(to), ignored);
  }
  if (posix::calls().rename(describe(from).c_str(), describe(to).c_str()) != 0) refuse(errno);
  {
    const std::lock_guard lock(mutex_);
    ++changes_;
    for (auto entry = open_.lower_bound(from + "/");
         entry != open_.end() && entry->first.starts_with(from + "/");) {
      recent_.erase(entry->second.position);
      entry = open_.erase(entry);
    }
  }
  if (const int error = posix::sync_folder(parent); error != 0) refuse(error);
}

void LocalStore::forget(const std::string& key) const {
  const std::lock_guard lock(mutex_);
  ++changes_;
  if (const auto found = open_.find(key); found != open_.end()) {
    recent_.erase(found->second.position);
    open_.erase(found);
  }
}

std::vector<std::string> LocalStore::list(const std::string& prefix) const {
  // The deepest folder that holds every key with this prefix.
  const std::size_t slash = prefix.find_last_of('/');
  const std::filesystem::path start =
      slash == std::string::npos ? root_ : root_ / prefix.substr(0, slash);
  std::vector<std::string> keys;
  std::error_code error;
  if (!std::filesystem::is_directory(start, error)) return keys;
  std::filesystem::recursive_directory_iterator entry(start, error);
  for (const std::filesystem::recursive_directory_iterator end; !error && entry != end;
       entry.increment(error)) {
    std::error_code no_file;  // such as a loop of links, which is no object
    if (is_temporary(entry->path()) || !entry->is_regular_file(no_file)) continue;
    if (entry->path() == root_ / StoreLock::kFile) continue;
    std::string key = entry->path().lexically_relative(root_).generic_string();
    if (key.starts_with(prefix)) keys.push_back(std::move(key));
  }
  if (error) {
    fail(ErrorCode::io, "{}: cannot be listed: {}", start.string(), error.message());
  }
  std::sort(keys.begin(), keys.end());
  return keys;
}

std::size_t LocalStore::remove_leftovers() {
  std::vector<std::filesystem::path> leftovers;
  std::error_code error;
  if (!std::filesystem::is_directory(root_, error)) return 0;
  std::filesystem::recursive_directory_iterator entry(root_, error);
  // A folder that somebody removes meanwhile is no reason to fail.
  for (const std::filesystem::recursive_directory_iterator end; !error && entry != end;
       entry.increment(error)) {
    if (is_temporary(entry->path()) && entry->is_regular_file(error))
      leftovers.push_back(entry->path());
  }
  for (const auto& path : leftovers) posix::calls().unlink(path.c_str());
  return leftovers.size();
}

void LocalStore::sync() {
  if (!std::filesystem::is_directory(root_)) return;
  const posix::Descriptor folder = posix::open_file(root_.string(), O_RDONLY | O_DIRECTORY);
  if (!folder.valid() || ::syncfs(folder.get()) != 0) {
    fail(ErrorCode::io, "{} while writing {} to the disk", posix::describe_errno(errno),
         root_.string());
  }
}

}  // namespace headrace::storage
