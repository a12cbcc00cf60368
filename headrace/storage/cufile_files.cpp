#include "headrace/storage/cufile_files.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <utility>
#include <vector>

#include "headrace/core/error.hpp"

namespace headrace::storage {
namespace {

CufileFile::Identity identity_of(const struct stat& found) {
  return {found.st_dev, found.st_ino, found.st_size, found.st_ctim.tv_sec, found.st_ctim.tv_nsec};
}

// A LocalStore keeps descriptors too, and so may the program around this one.
std::size_t kept_files() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return 16;
  return static_cast<std::size_t>(std::clamp<rlim_t>(limit.rlim_cur / 8, 16, 4096));
}

}  // namespace

std::shared_ptr<CufileFiles> CufileFiles::shared() {
  static std::mutex mutex;
  static std::weak_ptr<CufileFiles> kept;
  const std::lock_guard lock(mutex);
  auto files = kept.lock();
  if (!files) kept = files = std::make_shared<CufileFiles>(Cufile::shared(), kept_files());
  return files;
}

std::size_t CufileFiles::size() const {
  const std::lock_guard lock(mutex_);
  return entries_.size();
}

std::shared_ptr<CufileFiles::Place> CufileFiles::place_of(const std::string& path) {
  std::shared_ptr<Place> place, dropped;  // is closed after the lock's end
  const std::lock_guard lock(mutex_);
  const auto found = entries_.find(path);
  if (found != entries_.end()) {
    recent_.splice(recent_.begin(), recent_, found->second.position);
    return found->second.place;
  }
  place = std::make_shared<Place>();
  recent_.push_front(path);
  entries_.emplace(path, Entry{place, recent_.begin()});
  if (entries_.size() > most_) {
    const auto oldest = entries_.find(recent_.back());
    dropped = std::move(oldest->second.place);
    entries_.erase(oldest);
    recent_.pop_back();
  }
  return place;
}

void CufileFiles::drop_all() {
  std::map<std::string, Entry> dropped;  // is closed after the lock's end
  const std::lock_guard lock(mutex_);
  dropped.swap(entries_);
  recent_.clear();
}

posix::Descriptor CufileFiles::open(const std::string& path) {
  posix::Descriptor file = posix::open_file(path, O_RDONLY | O_DIRECT);
  // Some file systems have no O_DIRECT; cuFile then reads through its own memory.
  if (!file.valid() && errno == EINVAL) file = posix::open_file(path, O_RDONLY);
  return file;
}

std::shared_ptr<const CufileFile> CufileFiles::take(const std::string& path) {
  const std::shared_ptr<Place> place = place_of(path);
  const std::lock_guard lock(place->mutex);
  struct stat found {};
  if (place->file) {
    const bool there = posix::calls().stat(path.c_str(), &found) == 0;
    if (there && identity_of(found) == place->file->identity()) return place->file;
    place->file.reset();
  }
  posix::Descriptor file = open(path);
  if (!file.valid() && (errno == EMFILE || errno == ENFILE)) {
    drop_all();
    file = open(path);
  }
  if (!file.valid() || posix::calls().fstat(file.get(), &found) != 0) {
    fail(ErrorCode::io, "{}: cannot be opened: {}", path, posix::describe_errno(errno));
  }
  auto opened = std::make_shared<const CufileFile>(cufile_, std::move(file), identity_of(found));
  if (opened->problem().empty()) place->file = opened;
  return opened;
}

}  // namespace headrace::storage
