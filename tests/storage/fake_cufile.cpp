// The CUDA driver's cuInit and cuFile, on the host: cuFileRead is a pread that gives at most
// 100,000 bytes at a time. HEADRACE_TEST_CUINIT is what cuInit answers,
// HEADRACE_TEST_CUFILE_REGISTER what cuFile says to a file.
#include <unistd.h>

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
ssize_t cuFileRead(Cufile::Handle handle, void* to, std::size_t size, off_t offset,
                   off_t to_offset) {
  char path[64], file[4096];
  snprintf(path, sizeof path, "/proc/self/fd/%d", *static_cast<int*>(handle));
  const ssize_t length = readlink(path, file, sizeof file - 1);
  if (length < 0) return -1;
  file[length] = '\0';
  std::FILE* stream = std::fopen(file, "rb");
  if (stream == nullptr) return -1;
  constexpr std::size_t kMost = 100000;
  const ssize_t got = pread(fileno(stream), static_cast<char*>(to) + to_offset,
                            size < kMost ? size : kMost, offset);
  std::fclose(stream);
  return got;
}
}
