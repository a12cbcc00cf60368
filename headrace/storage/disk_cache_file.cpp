#include "headrace/storage/disk_cache_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>
#include <vector>

#include "headrace/core/crc32c.hpp"
#include "headrace/storage/temporary_file.hpp"

namespace headrace::storage {
namespace {

constexpr std::uint64_t kHeadBytes = 4 << 10, kSumBytes = 4;
constexpr std::size_t kMostVersionBytes = 2 << 10;
constexpr std::array<char, 8> kMagic{'H', 'R', 'C', 'A', 'C', 'H', 'E', '1'};

/// The first bytes of a file, as they lie there (little-endian), then the version's text.
struct Head {
  std::array<char, 8> magic;
  std::uint64_t size_bytes;
  std::uint32_t version_bytes;
  std::uint32_t sum;  ///< of the whole head, with 0 in its place
};
static_assert(sizeof(Head) == 24);

std::vector<std::byte> head_of(const DiskCacheFile::Facts& facts) {
  std::vector<std::byte> bytes(kHeadBytes);
  Head head{kMagic, facts.size_bytes, static_cast<std::uint32_t>(facts.version.size()), 0};
  std::memcpy(bytes.data() + sizeof(Head), facts.version.data(), facts.version.size());
  std::memcpy(bytes.data(), &head, sizeof(Head));
  head.sum = crc32c(bytes);
  std::memcpy(bytes.data(), &head, sizeof(Head));
  return bytes;
}

std::optional<DiskCacheFile::Facts> facts_of(std::span<const std::byte> bytes) {
  Head head{};
  std::memcpy(&head, bytes.data(), sizeof(Head));
  if (head.magic != kMagic || head.version_bytes > kMostVersionBytes) return std::nullopt;
  DiskCacheFile::Facts facts{
      head.size_bytes,
      std::string(reinterpret_cast<const char*>(bytes.data()) + sizeof(Head), head.version_bytes)};
  const std::vector<std::byte> whole = head_of(facts);
  if (!std::equal(bytes.begin(), bytes.end(), whole.begin())) return std::nullopt;
  return facts;
}

/// 0 stands for a page that is not there.
std::uint32_t sum_of(std::span<const std::byte> page) {
  return std::max<std::uint32_t>(1, crc32c(page));
}

std::uint64_t pages_of(std::uint64_t bytes) {
  return (bytes + DiskCacheFile::kPageBytes - 1) / DiskCacheFile::kPageBytes;
}

}  // namespace

std::uint64_t DiskCacheFile::place_of_sum(std::uint64_t page) const {
  return kHeadBytes + pages_of(facts_.size_bytes) * kPageBytes + page * kSumBytes;
}

std::shared_ptr<const DiskCacheFile> DiskCacheFile::open(const std::string& path) {
  posix::Descriptor file = posix::open_file(path, O_RDWR | O_NOFOLLOW);
  struct stat status {};
  if (!file.valid() || posix::calls().fstat(file.get(), &status) != 0) return nullptr;
  // In a folder that others may write, what they put there is neither read nor added to.
  if (!S_ISREG(status.st_mode) || status.st_uid != ::geteuid() || (status.st_mode & 077) != 0) {
    errno = EACCES;
    return nullptr;
  }
  std::array<std::byte, kHeadBytes> bytes{};
  const std::int64_t count = posix::read_at(file.get(), 0, bytes);
  if (count < 0) return nullptr;
  auto facts = count == static_cast<std::int64_t>(kHeadBytes) ? facts_of(bytes) : std::nullopt;
  if (!facts) {
    errno = EBADMSG;
    return nullptr;
  }
  return std::shared_ptr<const DiskCacheFile>(
      new DiskCacheFile(std::move(file), std::move(*facts)));
}

std::shared_ptr<const DiskCacheFile> DiskCacheFile::create(const std::string& path,
                                                           const Facts& facts) {
  if (facts.version.size() > kMostVersionBytes) {
    errno = ENAMETOOLONG;
    return nullptr;
  }
  TemporaryFile file;
  int error = file.create(std::filesystem::path(path).parent_path().string(), 0600);
  if (error == 0) error = posix::write_all(file.fd(), head_of(facts));
  // Its whole length at once, so that sums that were never written are read as zeros.
  const std::uint64_t pages = pages_of(facts.size_bytes);
  const std::uint64_t whole = kHeadBytes + pages * (kPageBytes + kSumBytes);
  if (error == 0 && ::ftruncate(file.fd(), static_cast<off_t>(whole)) != 0) error = errno;
  // Never in place of one that another process has made since, and fills; but where the file system
  // has no links there is no other way.
  if (error == 0 && ::link(file.path().c_str(), path.c_str()) != 0 && errno != EEXIST)
    error = errno == EPERM || errno == ENOTSUP || errno == ENOSYS ? file.put_in_place(path, false)
                                                                  : errno;
  if (error == 0) return open(path);
  errno = error;
  return nullptr;
}

DiskCacheFile::Found DiskCacheFile::read(std::uint64_t offset, std::span<std::byte> dst) const {
  const std::uint64_t first = offset / kPageBytes, count = pages_of(dst.size());
  std::vector<std::uint32_t> sums(count);
  const Found nothing{{offset, dst.size()}, false};
  const auto bytes_of_sums = std::as_writable_bytes(std::span(sums));
  if (posix::read_at(file_.get(), place_of_sum(first), bytes_of_sums) !=
          static_cast<std::int64_t>(bytes_of_sums.size()) ||
      std::all_of(sums.begin(), sums.end(), [](std::uint32_t sum) { return sum == 0; }) ||
      posix::read_at(file_.get(), kHeadBytes + offset, dst) !=
          static_cast<std::int64_t>(dst.size()))
    return nothing;
  Found found;
  std::uint64_t begin = dst.size(), end = 0;  // of what is missing
  for (std::uint64_t page = 0; page < count; ++page) {
    const std::uint64_t at = page * kPageBytes;
    const std::uint64_t bytes = std::min<std::uint64_t>(kPageBytes, dst.size() - at);
    if (sums[page] != 0 && sums[page] == sum_of(dst.subspan(at, bytes))) continue;
    found.damaged |= sums[page] != 0;
    begin = std::min(begin, at);
    end = at + bytes;
  }
  if (begin < end) found.missing = {offset + begin, end - begin};
  return found;
}

int DiskCacheFile::keep(std::uint64_t offset, std::span<const std::byte> bytes) const {
  std::vector<std::uint32_t> sums(pages_of(bytes.size()));
  for (std::size_t page = 0; page < sums.size(); ++page) {
    const std::size_t at = page * kPageBytes;
    sums[page] = sum_of(bytes.subspan(at, std::min<std::size_t>(kPageBytes, bytes.size() - at)));
  }
  if (const int error = posix::write_at(file_.get(), kHeadBytes + offset, bytes)) return error;
  return posix::write_at(file_.get(), place_of_sum(offset / kPageBytes),
                         std::as_bytes(std::span(sums)));
}

void DiskCacheFile::touch() const {
  const timespec times[2] = {{0, UTIME_NOW}, {0, UTIME_OMIT}};
  ::futimens(file_.get(), times);
}

void DiskCacheFile::confirm() const { ::futimens(file_.get(), nullptr); }

std::optional<std::int64_t> DiskCacheFile::confirmed_s() const {
  struct stat status {};
  if (posix::calls().fstat(file_.get(), &status) != 0 || status.st_nlink == 0) return std::nullopt;
  return status.st_mtim.tv_sec;
}

}  // namespace headrace::storage
