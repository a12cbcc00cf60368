#include "headrace/storage/disk_cache_folder.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <utility>
#include <vector>

#include "headrace/core/error.hpp"
#include "headrace/core/folder_walk.hpp"
#include "headrace/core/posix.hpp"
#include "headrace/storage/temporary_file.hpp"

namespace headrace::storage {
namespace {

constexpr const char* kEnding = ".ranges";
constexpr const char* kReplaced = "replaced";  // its time of change says when one was found
constexpr std::uint64_t kDiskBlock = 4 << 10;
constexpr std::chrono::seconds kLookAgain{60}, kAtMostEvery{2};
constexpr std::time_t kLeftover = 24 * 3600;

struct Kept {
  std::string path, name;
  std::uint64_t bytes;
  std::time_t used;
};

}  // namespace

DiskCacheFolder::DiskCacheFolder(std::filesystem::path folder, std::uint64_t limit_bytes,
                                 std::chrono::seconds unused)
    : folder_(std::filesystem::absolute(folder)), limit_(limit_bytes), unused_(unused) {
  if (!folder_.has_filename()) folder_ = folder_.parent_path();  // "cache/"
  const std::filesystem::path above = folder_.parent_path();
  int error = above.empty() ? 0 : posix::make_folders(above.string());
  if (error == 0 && posix::calls().mkdir(folder_.c_str(), 0700) != 0 && errno != EEXIST)
    error = errno;
  if (error != 0)
    fail(ErrorCode::io, "{}: the folder of the cache can't be made: {}", folder_.string(),
         posix::describe_errno(error));
  if (::access(folder_.c_str(), R_OK | W_OK | X_OK) != 0)
    fail(ErrorCode::io, "{}: the folder of the cache can't be written: {}", folder_.string(),
         posix::describe_errno(errno));
}

std::string DiskCacheFolder::path_of(const std::string& name) const {
  return (folder_ / (name + kEnding)).string();
}

void DiskCacheFolder::use(const std::string& name) {
  const std::lock_guard lock(mutex_);
  used_.insert(name);
}

void DiskCacheFolder::note_replaced() {
  const std::string path = (folder_ / kReplaced).string();
  const posix::Descriptor file = posix::open_file(path, O_WRONLY | O_CREAT | O_NOFOLLOW, 0600);
  if (file.valid()) ::futimens(file.get(), nullptr);
}

std::int64_t DiskCacheFolder::replaced_s() const {
  struct stat status {};
  return posix::calls().stat((folder_ / kReplaced).c_str(), &status) == 0 ? status.st_mtim.tv_sec
                                                                          : 0;
}

void DiskCacheFolder::remove(const std::string& name) {
  posix::calls().unlink(path_of(name).c_str());
}

bool DiskCacheFolder::fits(std::uint64_t bytes) const {
  if (total_ + bytes > limit_) return false;
  struct statvfs disk {};
  if (::statvfs(folder_.c_str(), &disk) != 0) return true;
  const std::uint64_t block = disk.f_frsize;
  return disk.f_bavail * block >= bytes + disk.f_blocks * block / 20;
}

bool DiskCacheFolder::admit(std::uint64_t bytes) {
  bytes = (bytes + kDiskBlock - 1) / kDiskBlock * kDiskBlock + kDiskBlock;  // with its sums
  const std::lock_guard lock(mutex_);
  const bool long_ago = !looked_ || Clock::now() - looked_at_ > kLookAgain;
  const bool much = written_ > limit_ / 64 && Clock::now() - looked_at_ > kAtMostEvery;
  if (!looked_ || much || (long_ago && (written_ > 0 || !fits(bytes)))) look(bytes);
  if (!fits(bytes)) return false;
  total_ += bytes;
  written_ += bytes;
  return true;
}

void DiskCacheFolder::look(std::uint64_t wanted) {
  looked_at_ = Clock::now();
  std::vector<std::filesystem::directory_entry> entries;
  try {
    entries = list_folder(folder_);
  } catch (const Error&) {  // what was known before still holds
    return;
  }
  looked_ = true;
  written_ = 0;
  total_ = 0;
  const std::time_t now = std::time(nullptr);
  std::vector<Kept> unused;
  for (const auto& entry : entries) {
    const std::string file = entry.path().filename().string();
    struct stat status {};
    if (::lstat(entry.path().c_str(), &status) != 0 || !S_ISREG(status.st_mode)) continue;
    if (file.starts_with(kTemporaryPrefix)) {
      if (now - status.st_mtime > kLeftover) posix::calls().unlink(entry.path().c_str());
      continue;
    }
    if (!file.ends_with(kEnding)) continue;
    const std::string name = file.substr(0, file.size() - std::string(kEnding).size());
    const auto bytes = static_cast<std::uint64_t>(status.st_blocks) * 512;
    total_ += bytes;
    const std::time_t used = std::max(status.st_atime, status.st_mtime);
    if (!used_.contains(name) && now - used >= unused_.count())
      unused.push_back({entry.path().string(), name, bytes, used});
  }
  if (Clock::now() - made_ < unused_) return;
  std::sort(unused.begin(), unused.end(), [](const Kept& a, const Kept& b) {
    return std::pair(a.used, a.name) < std::pair(b.used, b.name);
  });
  // Room for more than this one, so that a full cache is not listed for each range.
  const std::uint64_t room = wanted + limit_ / 64;
  for (const Kept& kept : unused) {
    if (fits(room)) break;
    if (posix::calls().unlink(kept.path.c_str()) == 0) total_ -= std::min(total_, kept.bytes);
  }
}

}  // namespace headrace::storage
