#include "headrace/storage/local_object.hpp"

#include <fcntl.h>

#include <fmt/format.h>

#include <cerrno>
#include <utility>

#include "headrace/core/error.hpp"
#include "headrace/core/posix.hpp"
#include "headrace/core/regular_file.hpp"

namespace headrace::storage {
namespace {

class LocalObject : public Object {
 public:
  LocalObject(posix::Descriptor file, std::uint64_t size, std::string path)
      : file_(std::move(file)), size_(size), path_(std::move(path)) {}

  std::string identity() const override {
    struct stat status {};
    if (posix::calls().fstat(file_.get(), &status) != 0) return {};
    const auto& changed = status.st_mtim;
    return fmt::format("{}.{:09}", changed.tv_sec, changed.tv_nsec);
  }

  std::uint64_t size_bytes() const override { return size_; }
  std::string local_path() const override { return path_; }
  std::string describe() const override { return path_; }

  void read(std::uint64_t offset, std::span<std::byte> dst) const override {
    if (offset > size_ || dst.size() > size_ - offset) {
      fail(ErrorCode::corrupt,
           "{}: bytes {} to {} are needed, but the file ends at {}; it is truncated or damaged",
           path_, offset, offset + dst.size(), size_);
    }
    const std::int64_t got = posix::read_at(file_.get(), offset, dst);
    if (got < 0) {
      fail(ErrorCode::io, "{}: reading bytes {} to {}: {}", path_, offset, offset + dst.size(),
           posix::describe_errno(errno));
    }
    if (static_cast<std::size_t>(got) != dst.size())
      fail(ErrorCode::corrupt, "{}: the file became shorter while being read", path_);
  }

 private:
  posix::Descriptor file_;
  std::uint64_t size_;
  std::string path_;
};

}  // namespace

std::shared_ptr<const Object> open_local_object(const std::string& path, bool* out_of_descriptors) {
  posix::Descriptor file = posix::open_file(path, O_RDONLY);
  if (!file.valid()) {
    if (errno == ENOENT || errno == ENOTDIR) return nullptr;
    if (out_of_descriptors != nullptr && (errno == EMFILE || errno == ENFILE)) {
      *out_of_descriptors = true;
      return nullptr;
    }
    fail(ErrorCode::io, "{}: cannot be opened: {}", path, posix::describe_errno(errno));
  }
  struct stat status {};
  if (posix::calls().fstat(file.get(), &status) != 0) {
    fail(ErrorCode::io, "{}: size cannot be read: {}", path, posix::describe_errno(errno));
  }
  if (!S_ISREG(status.st_mode)) return nullptr;
  return std::make_shared<const LocalObject>(std::move(file),
                                             static_cast<std::uint64_t>(status.st_size), path);
}

std::shared_ptr<const Object> open_existing_local_object(const std::string& path) {
  RegularFile file(path);
  const std::uint64_t size = file.size();
  return std::make_shared<const LocalObject>(std::move(file).take(), size, path);
}

}  // namespace headrace::storage
