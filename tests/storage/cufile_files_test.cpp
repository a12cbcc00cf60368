// What is kept between reads by cuFile, and how many reads are under way at once: with a stand-in
// for cuFile that counts both.
#include "headrace/storage/cufile_files.hpp"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <set>
#include <thread>

#include "headrace/core/threads.hpp"
#include "headrace/device/device_scope.hpp"
#include "headrace/storage/device_reader.hpp"
#include "tests/core/error_of.hpp"

namespace headrace::storage {
namespace {

using device::cuda::DeviceBuffer;
using device::cuda::Stream;

std::mutex seen_mutex;
std::set<int> seen_devices;

class CufileReading : public ::testing::Test {
 protected:
  void SetUp() override {
    void* library = dlopen(HR_FAKE_CUFILE, RTLD_NOW);
    ASSERT_NE(library, nullptr) << dlerror();
    registrations_ = static_cast<std::atomic<int>*>(dlsym(library, "fake_cufile_registrations"));
    registered_ = static_cast<std::atomic<int>*>(dlsym(library, "fake_cufile_registered"));
    on_read_ = reinterpret_cast<void (**)()>(dlsym(library, "fake_cufile_on_read"));
    folder_ = std::filesystem::path(::testing::TempDir()) / "headrace-cufile-files";
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
    before_ = *registrations_;
    ASSERT_EQ(*registered_, 0);
  }
  void TearDown() override {
    for (const char* variable : {"TOGETHER", "FAILS_AT"}) {
      unsetenv((std::string("HEADRACE_TEST_CUFILE_") + variable).c_str());
    }
    *on_read_ = nullptr;
    std::filesystem::remove_all(folder_);
    EXPECT_EQ(*registered_, 0) << "a file is still registered";
  }

  static constexpr std::size_t kSize = 40'000;
  static std::vector<char> content(int seed) {
    std::vector<char> bytes(kSize);
    auto value = static_cast<std::uint32_t>(seed);
    for (char& byte : bytes) {
      value = value * 1664525 + 1013904223;
      byte = static_cast<char>(value >> 24);
    }
    return bytes;
  }
  std::string path(int number) const { return folder_ / std::to_string(number); }
  std::string written(int number, int seed) const {
    const auto bytes = content(seed);
    std::ofstream(path(number), std::ios::binary).write(bytes.data(), kSize);
    return path(number);
  }
  int registrations() const { return *registrations_ - before_; }

  /// A file's bytes as a reader gives them.
  static std::vector<char> read(DeviceReader& reader, const std::string& path) {
    DeviceBuffer memory(kSize);
    const DeviceRange range{0, kSize, memory.as<std::byte>()};
    Stream stream;
    reader.read(path, {&range, 1}, stream);
    const auto* bytes = memory.as<char>();
    return {bytes, bytes + kSize};
  }

  std::filesystem::path folder_;
  std::atomic<int>*registrations_ = nullptr, *registered_ = nullptr;
  void (**on_read_)() = nullptr;
  int before_ = 0;
};

TEST_F(CufileReading, RegistersAFileOnceForAllReaders) {
  const std::string one = written(1, 1), two = written(2, 2);
  {
    DeviceReader a(GpuDirect::on), b(GpuDirect::on);
    for (int round = 0; round < 3; ++round) {
      EXPECT_EQ(read(a, one), content(1));
      EXPECT_EQ(read(b, two), content(2));
      EXPECT_EQ(read(b, one), content(1));
    }
    EXPECT_EQ(registrations(), 2);
    EXPECT_EQ(*registered_, 2);
  }
  EXPECT_EQ(*registered_, 0);  // with the last reader the files are closed
}

TEST_F(CufileReading, AFileThatChangedIsRegisteredAnew) {
  const std::string one = written(1, 1);
  DeviceReader reader(GpuDirect::on);
  EXPECT_EQ(read(reader, one), content(1));
  // As stores replace their objects: written aside, and renamed.
  std::filesystem::rename(written(2, 2), one);
  EXPECT_EQ(read(reader, one), content(2));
  EXPECT_EQ(registrations(), 2);
  // In place, with the same size.
  const auto other = content(3);
  std::fstream(one, std::ios::binary | std::ios::in | std::ios::out).write(other.data(), kSize);
  EXPECT_EQ(read(reader, one), other);
  EXPECT_EQ(registrations(), 3);
  EXPECT_EQ(*registered_, 1);
  std::filesystem::resize_file(one, 100);
  EXPECT_EQ(error_of(ErrorCode::io, [&] { read(reader, one); }),
            one + ": 40000 bytes at 0 wanted, 100 read: the file ends there");
  std::filesystem::remove(one);
  const std::string gone = error_of(ErrorCode::io, [&] { read(reader, one); });
  EXPECT_EQ(gone.rfind(one + ": cannot be opened: ", 0), 0u) << gone;
  EXPECT_EQ(*registered_, 0) << "a removed file is kept, and so is its space";
}

TEST_F(CufileReading, KeepsSoManyFilesAndThoseThatAreHeld) {
  CufileFiles files(Cufile::shared(), 3);
  for (int i = 0; i < 10; ++i) written(i, i);
  const auto held = files.take(path(0));
  for (int i = 1; i < 10; ++i) {
    files.take(path(i));
    EXPECT_LE(files.size(), 3u);
  }
  EXPECT_EQ(*registered_, 4);
  EXPECT_EQ(files.take(path(9))->identity(), files.take(path(9))->identity());
  EXPECT_EQ(registrations(), 10);
  files.take(path(1));  // was dropped meanwhile
  EXPECT_EQ(registrations(), 11);
}

TEST_F(CufileReading, ThreadsThatTakeTheSameFileRegisterItOnce) {
  CufileFiles files(Cufile::shared(), 8);
  const std::string one = written(1, 1);
  std::vector<std::shared_ptr<const CufileFile>> taken(32);
  // Slow, as on a network: the others come meanwhile.
  static auto* const opened = posix::calls().open;
  posix::calls().open = [](const char* path, int flags, mode_t mode) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    return opened(path, flags, mode);
  };
  ThreadPool(8).parallel_for(taken.size(), [&](std::size_t i) { taken[i] = files.take(one); });
  posix::calls().open = opened;
  for (const auto& file : taken) EXPECT_EQ(file, taken[0]);
  EXPECT_EQ(registrations(), 1);
}

/// Of one file, of several, and of one long range. One after the other they would wait for ever.
TEST_F(CufileReading, ReadsAreUnderWayTogether) {
  DeviceReader reader(GpuDirect::on);
  std::vector<DeviceFile> files;
  DeviceBuffer memory(4 * kSize);
  for (int i = 0; i < 4; ++i) {
    auto* to = memory.as<std::byte>() + static_cast<std::size_t>(i) * kSize;
    files.push_back({written(i, i), {{0, 4096, to}, {4096, kSize - 4096, to + 4096}}});
  }
  setenv("HEADRACE_TEST_CUFILE_TOGETHER", "8", 1);
  Stream stream;
  reader.read(files, stream);
  for (int i = 0; i < 4; ++i) {
    const auto* read = memory.as<char>() + static_cast<std::size_t>(i) * kSize;
    EXPECT_EQ(std::vector<char>(read, read + kSize), content(i));
  }
  unsetenv("HEADRACE_TEST_CUFILE_TOGETHER");
  constexpr std::size_t kLong = (16 << 20) + 5;
  std::vector<char> bytes(kLong);
  for (std::size_t i = 0; i < kLong; ++i) bytes[i] = static_cast<char>(i * 2654435761u >> 24);
  std::ofstream(path(9), std::ios::binary).write(bytes.data(), kLong);
  DeviceBuffer whole(kLong);
  const DeviceRange range{0, kLong, whole.as<std::byte>()};
  // The stand-in's counter starts anew with a read that is not told to wait.
  EXPECT_EQ(read(reader, path(0)), content(0));
  setenv("HEADRACE_TEST_CUFILE_TOGETHER", "3", 1);
  reader.read(path(9), {&range, 1}, stream);
  EXPECT_EQ(std::memcmp(whole.as<char>(), bytes.data(), kLong), 0);
}

/// The lowest of those that fail, with its own file and bytes; the others are not left half read.
TEST_F(CufileReading, AReadThatFailsIsNamed) {
  DeviceReader reader(GpuDirect::on);
  DeviceBuffer memory(3 * kSize);
  auto* to = memory.as<std::byte>();
  const std::vector<DeviceFile> files{
      {written(1, 1), {{0, 8192, to}}},
      {written(2, 2), {{0, 4096, to + kSize}, {12288, 4096, to + kSize + 4096}}},
      {written(3, 3), {{12288, 4096, to + 2 * kSize}, {16384, 8192, to + 2 * kSize + 4096}}}};
  setenv("HEADRACE_TEST_CUFILE_FAILS_AT", "12288", 1);
  Stream stream;
  EXPECT_EQ(error_of(ErrorCode::io, [&] { reader.read(files, stream); }),
            path(2) + ": 4096 bytes at 12288 wanted, 0 read: cuFile's error 5044");
  EXPECT_EQ(std::memcmp(to + 2 * kSize + 4096, content(3).data() + 16384, 8192), 0);
  unsetenv("HEADRACE_TEST_CUFILE_FAILS_AT");
  reader.read(files, stream);
  EXPECT_EQ(std::memcmp(to + kSize + 4096, content(2).data() + 12288, 4096), 0);
}

/// cuFile takes the memory for that of the reading thread's GPU.
TEST_F(CufileReading, IsDoneForTheGpuOfTheCaller) {
  const int mine = device::cuda::current_device();
  seen_devices.clear();
  *on_read_ = [] {
    const std::lock_guard lock(seen_mutex);
    seen_devices.insert(device::cuda::current_device());
  };
  {
    const device::cuda::DeviceScope scope(mine + 3);
    DeviceReader reader(GpuDirect::on);
    std::vector<DeviceFile> files;
    DeviceBuffer memory(8 * kSize);
    for (int i = 0; i < 8; ++i) {
      files.push_back({written(i, i),
                       {{0, kSize, memory.as<std::byte>() + static_cast<std::size_t>(i) * kSize}}});
    }
    setenv("HEADRACE_TEST_CUFILE_TOGETHER", "8", 1);  // so that other threads read too
    Stream stream;
    reader.read(files, stream);
  }
  EXPECT_EQ(seen_devices, std::set<int>{mine + 3});
  EXPECT_EQ(device::cuda::current_device(), mine);
}

}  // namespace
}  // namespace headrace::storage
