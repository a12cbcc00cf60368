// The CUDA driver's cuInit and cuFile, on the host: cuFileRead is a pread that gives at most
// 100,000 bytes at a time. HEADRACE_TEST_CUINIT is what cuInit answers,
// HEADRACE_TEST_CUFILE_REGISTER what cuFile says to a file.
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>

#include "headrace/storage/cufile.hpp"

using headrace::storage::Cufile;

extern "C" {

int fake_cufile_opened = 0;

int cuInit(unsigned int) {
  const char* answer = std::getenv("HEADRACE_TEST_CUINIT");
  return answer == nullptr ? 0 : std::atoi(answer);
}
Cufile::Result cuFileDriverOpen() {
  ++fake_cufile_opened;
  return {};
}
Cufile::Result cuFileHandleRegister(Cufile::Handle* handle, Cufile::Description* description) {
  if (description->type != 1 || description->operations != nullptr) return {5011, 0};
  const char* answer = std::getenv("HEADRACE_TEST_CUFILE_REGISTER");
  if (answer != nullptr) return {std::atoi(answer), 0};
  *handle = new int(description->handle.fd);
  return {};
}
void cuFileHandleDeregister(Cufile::Handle handle) { delete static_cast<int*>(handle); }
// Opened with O_DIRECT, a file takes whole blocks alone; so it is opened anew.
static std::FILE* opened_anew(Cufile::Handle handle, const char* mode) {
  char path[64], file[4096];
  snprintf(path, sizeof path, "/proc/self/fd/%d", *static_cast<int*>(handle));
  const ssize_t length = readlink(path, file, sizeof file - 1);
  if (length < 0) return nullptr;
  file[length] = '\0';
  return std::fopen(file, mode);
}
constexpr std::size_t kMost = 100000;
ssize_t cuFileRead(Cufile::Handle handle, void* to, std::size_t size, off_t offset,
                   off_t to_offset) {
  std::FILE* stream = opened_anew(handle, "rb");
  if (stream == nullptr) return -1;
  const ssize_t got = pread(fileno(stream), static_cast<char*>(to) + to_offset,
                            size < kMost ? size : kMost, offset);
  std::fclose(stream);
  return got;
}
ssize_t cuFileWrite(Cufile::Handle handle, const void* from, std::size_t size, off_t offset,
                    off_t from_offset) {
  // Writes that still succeed once it is set.
  static std::atomic<int> since{0};
  const char* full = std::getenv("HEADRACE_TEST_DISK_FULL");
  if (full == nullptr) since = 0;
  if (full != nullptr && ++since > std::atoi(full)) {
    errno = ENOSPC;
    return -1;
  }
  std::FILE* stream = opened_anew(handle, "rb+");
  if (stream == nullptr) return -1;
  const ssize_t put = pwrite(fileno(stream), static_cast<const char*>(from) + from_offset,
                             size < kMost ? size : kMost, offset);
  std::fclose(stream);
  return put;
}
}
