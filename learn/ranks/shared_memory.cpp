#include "learn/ranks/shared_memory.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "headrace/core/error.hpp"

namespace headrace::ranks {

SharedMemory::~SharedMemory() {
  if (data_ != nullptr) munmap(data_, size_);
  close_handle();
}

SharedMemory& SharedMemory::operator=(SharedMemory&& o) noexcept {
  std::swap(data_, o.data_);
  std::swap(size_, o.size_);
  std::swap(fd_, o.fd_);
  return *this;
}

void SharedMemory::map(int fd, std::size_t bytes) {
  void* data = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (data == MAP_FAILED) {
    fail(ErrorCode::memory, "{} MiB of memory that the processes share can't be mapped ({}).",
         bytes >> 20, std::strerror(errno));
  }
  data_ = static_cast<std::byte*>(data);
  size_ = bytes;
}

SharedMemory SharedMemory::create(std::size_t bytes) {
  SharedMemory memory;
  memory.fd_ = memfd_create("headrace", MFD_CLOEXEC);
  int error = memory.fd_ < 0 ? errno : 0;
  while (error == 0 && fallocate(memory.fd_, 0, 0, static_cast<off_t>(bytes)) != 0) {
    if (errno != EINTR) error = errno;
  }
  if (error != 0) {
    fail(ErrorCode::memory,
         "{} MiB of memory that the processes share are not there ({}). Give the job more memory, "
         "lower train.gradient_parts or eval.batch, or make the model smaller.",
         (bytes >> 20) + 1, std::strerror(error));
  }
  memory.map(memory.fd_, bytes);
  return memory;
}

SharedMemory SharedMemory::open(const std::string& handle, std::size_t bytes) {
  const int fd = ::open(handle.c_str(), O_RDWR | O_CLOEXEC);
  if (fd < 0) {
    fail(ErrorCode::io,
         "{}: the memory of process 0 can't be opened ({}). All processes of a training need the "
         "same user, and one /proc: one container.",
         handle, std::strerror(errno));
  }
  SharedMemory memory;
  memory.fd_ = fd;
  memory.map(fd, bytes);
  memory.close_handle();
  return memory;
}

std::string SharedMemory::handle() const { return fmt::format("/proc/{}/fd/{}", getpid(), fd_); }

void SharedMemory::close_handle() noexcept {
  if (fd_ >= 0) close(std::exchange(fd_, -1));
}

}  // namespace headrace::ranks
