#include "headrace/storage/local_store.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>

#include "headrace/core/error.hpp"
#include "headrace/storage/posix.hpp"
#include "headrace/storage/store_lock.hpp"

namespace headrace::storage {
namespace {

constexpr std::string_view kTemporaryPrefix = ".tmp-";

class LocalObject : public Object {
 public:
  LocalObject(posix::Descriptor file, std::uint64_t size, std::string path)
      : file_(std::move(file)), size_(size), path_(std::move(path)) {}

  std::uint64_t size_bytes() const override { return size_; }
  std::string local_path() const override { return path_; }

  void read(std::uint64_t offset, std::span<std::byte> dst) const override {
    const std::int64_t got = posix::read_at(file_.get(), offset, dst);
    if (got < 0) {
      fail(ErrorCode::io, "{}: reading bytes {}-{} failed: {}", path_, offset, offset + dst.size(),
           posix::describe_errno(errno));
    }
    if (static_cast<std::size_t>(got) != dst.size()) {
      fail(ErrorCode::corrupt, "{}: bytes {}-{} wanted, but the file ends at {}", path_, offset,
           offset + dst.size(), offset + static_cast<std::uint64_t>(got));
    }
  }

 private:
  posix::Descriptor file_;
  std::uint64_t size_;
  std::string path_;
};

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

// Removes the file at the end of the scope unless it was kept.
class TemporaryFile {
 public:
  explicit TemporaryFile(std::string path) : path_(std::move(path)) {}
  ~TemporaryFile() {
    if (!path_.empty()) posix::calls().unlink(path_.c_str());
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  void keep() noexcept { path_.clear(); }

 private:
  std::string path_;
};

// A name that no other writer has: process id and a counter; O_EXCL excludes the rest.
posix::Descriptor create_temporary(const std::string& folder, std::string& path) {
  static std::atomic<std::uint64_t> counter{0};
  while (true) {
    path = fmt::format("{}/{}{}-{}", folder, kTemporaryPrefix, ::getpid(), counter++);
    posix::Descriptor file = posix::open_file(path, O_WRONLY | O_CREAT | O_EXCL);
    if (file.valid() || errno != EEXIST) return file;
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
  posix::Descriptor file = posix::open_file(path, O_RDONLY);
  if (!file.valid() && (errno == EMFILE || errno == ENFILE)) {
    const std::lock_guard lock(mutex_);
    open_.clear();
    recent_.clear();
    file = posix::open_file(path, O_RDONLY);
  }
  if (!file.valid()) {
    if (errno == ENOENT || errno == ENOTDIR) return nullptr;
    fail(ErrorCode::io, "{}: cannot be opened: {}", path, posix::describe_errno(errno));
  }
  struct stat status {};
  if (posix::calls().fstat(file.get(), &status) != 0) {
    fail(ErrorCode::io, "{}: size cannot be read: {}", path, posix::describe_errno(errno));
  }
  if (!S_ISREG(status.st_mode)) return nullptr;
  auto object = std::make_shared<const LocalObject>(
      std::move(file), static_cast<std::uint64_t>(status.st_size), path);
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

void LocalStore::put(const std::string& key, std::span<const std::byte> bytes) {
  place(key, bytes.size(), [&](int fd, const std::string&) { return posix::write_all(fd, bytes); });
}

void LocalStore::put_file(const std::string& key, std::uint64_t size_bytes,
                          const std::function<void(const std::string& path)>& write) {
  place(key, size_bytes, [&](int, const std::string& path) {
    write(path);
    return 0;
  });
}

// `write` returns 0 or an errno.
void LocalStore::place(const std::string& key, std::uint64_t size_bytes,
                       const std::function<int(int fd, const std::string& path)>& write) {
  check_key(key);
  const std::string path = describe(key);
  const std::string folder = std::filesystem::path(path).parent_path().string();
  const auto refuse = [&](int error) {
    fail(ErrorCode::io, "{} while writing {} ({} bytes) to {}; nothing was stored under that key",
         posix::describe_errno(error), key, size_bytes, root_.string());
  };
  if (const int error = posix::make_folders(folder); error != 0) refuse(error);
  std::string temporary_path;
  posix::Descriptor file = create_temporary(folder, temporary_path);
  if (!file.valid()) refuse(errno);
  TemporaryFile temporary(temporary_path);
  if (const int error = write(file.get(), temporary_path); error != 0) refuse(error);
  const bool now = durability_ == Durability::each_put;
  if (const int error = now ? posix::sync(file.get()) : 0; error != 0) refuse(error);
  // Some file systems report a failed write only now.
  if (posix::calls().close(file.release()) != 0 && errno != EINTR) refuse(errno);
  if (posix::calls().rename(temporary_path.c_str(), path.c_str()) != 0) refuse(errno);
  temporary.keep();
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
    if (is_temporary(entry->path()) || !entry->is_regular_file()) continue;
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
