// The CUDA driver's cuInit and cuFile, on the host: cuFileRead is a pread that gives at most
// 100,000 bytes at a time. HEADRACE_TEST_CUINIT is what cuInit answers,
// HEADRACE_TEST_CUFILE_REGISTER what cuFile says to a file, HEADRACE_TEST_CUFILE_FAILS_AT an offset
// at which no read may begin. With HEADRACE_TEST_CUFILE_TOGETHER each read waits until so many are
// under way, and fails where they never are. It counts what is registered and read.
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>

#include "headrace/storage/cufile.hpp"

using headrace::storage::Cufile;

extern "C" {

int fake_cufile_opened = 0;
std::atomic<int> fake_cufile_registrations{0}, fake_cufile_registered{0};
void (*fake_cufile_on_read)() = nullptr;  ///< called in the thread that reads

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
  ++fake_cufile_registrations;
  ++fake_cufile_registered;
  return {};
}
void cuFileHandleDeregister(Cufile::Handle handle) {
  delete static_cast<int*>(handle);
  --fake_cufile_registered;
}
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
// Whether so many reads came together as the environment asks for. Those that follow need not wait.
static bool together() {
  static std::mutex mutex;
  static std::condition_variable all_there;
  static int under_way = 0;
  static bool met = false;
  std::unique_lock lock(mutex);
  const char* wanted = std::getenv("HEADRACE_TEST_CUFILE_TOGETHER");
  static bool given_up = false;
  if (wanted == nullptr) {
    met = given_up = false;
    return true;
  }
  if (++under_way >= std::atoi(wanted)) met = true;
  all_there.notify_all();
  all_there.wait_for(lock, std::chrono::seconds(20), [] { return met || given_up; });
  --under_way;
  given_up = !met;
  return met;
}
ssize_t cuFileRead(Cufile::Handle handle, void* to, std::size_t size, off_t offset,
                   off_t to_offset) {
  if (fake_cufile_on_read != nullptr) fake_cufile_on_read();
  if (!together()) return -5030;
  const char* fails_at = std::getenv("HEADRACE_TEST_CUFILE_FAILS_AT");
  if (fails_at != nullptr && std::atoll(fails_at) == offset) return -5044;
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
