// DeviceReader and DeviceWriter with the host in a GPU's place, by a stand-in for cuFile and
// through pinned memory.
#include "headrace/storage/device_reader.hpp"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "headrace/core/error.hpp"
#include "headrace/core/posix.hpp"
#include "headrace/storage/cufile.hpp"
#include "headrace/storage/device_writer.hpp"
#include "headrace/storage/local_store.hpp"

namespace headrace::storage {
namespace {

using device::cuda::DeviceBuffer;
using device::cuda::Stream;

class DeviceReading : public ::testing::Test {
 protected:
  void SetUp() override {
    path_ = std::filesystem::path(::testing::TempDir()) / "headrace-device-reader";
    bytes_.resize(20'000'000);
    std::uint32_t value = 1;
    for (char& byte : bytes_) {
      value = value * 1664525 + 1013904223;
      byte = static_cast<char>(value >> 24);
    }
    std::ofstream(path_, std::ios::binary)
        .write(bytes_.data(), static_cast<std::streamsize>(bytes_.size()));
  }
  void TearDown() override { std::filesystem::remove(path_); }

  void expect_read(GpuDirect choice, const std::string& how, const std::string& how_then = {}) {
    DeviceReader reader(choice);
    EXPECT_EQ(reader.how(), how);
    DeviceBuffer memory(bytes_.size());
    auto* to = memory.as<std::byte>();
    const std::vector<DeviceRange> ranges{{4096, 8192, to},
                                          {1, 17'000'001, to + 8192},
                                          {5, 0, to},
                                          {19'999'990, 10, to + 18'000'000}};
    Stream stream;
    reader.read(path_, ranges, stream);
    stream.wait();
    EXPECT_EQ(reader.how(), how_then.empty() ? how : how_then);
    for (const DeviceRange& range : ranges) {
      EXPECT_EQ(std::memcmp(range.to, bytes_.data() + range.offset, range.size), 0) << range.offset;
    }
  }

  std::string error_of(GpuDirect choice, const std::string& path, const DeviceRange& range) {
    DeviceReader reader(choice);
    Stream stream;
    try {
      reader.read(path, {&range, 1}, stream);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::io);
      return error.what();
    }
    return {};
  }

  std::string path_;
  std::vector<char> bytes_;
};

TEST_F(DeviceReading, ByCufileAndThroughPinnedMemoryGivesTheFile) {
  expect_read(GpuDirect::on, "cuFile");
  expect_read(GpuDirect::automatic, "cuFile");
  expect_read(GpuDirect::off, "POSIX: GPUDirect is off");
}

TEST_F(DeviceReading, AFileThatCufileDoesNotTakeGoesThroughPinnedMemoryUnlessItMust) {
  setenv("HEADRACE_TEST_CUFILE_REGISTER", "5027", 1);
  expect_read(GpuDirect::automatic, "cuFile",
              "POSIX: cuFile does not take " + path_ + " (error 5027, CUDA 0)");
  DeviceReader reader(GpuDirect::on);
  Stream stream;
  try {
    reader.read(path_, {}, stream);
    ADD_FAILURE() << "a refused file was read";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::device);
    EXPECT_EQ(std::string(error.what()), "GPUDirect is on: cuFile does not take " + path_ +
                                             " (error 5027, CUDA 0). Set it to auto or off");
  }
  unsetenv("HEADRACE_TEST_CUFILE_REGISTER");
}

// cuFile reads at once, whatever a stream is still to do with the memory.
TEST_F(DeviceReading, WhatTheStreamStillDoesWithTheMemoryComesFirst) {
  for (const GpuDirect choice : {GpuDirect::on, GpuDirect::off}) {
    DeviceReader reader(choice);
    DeviceBuffer memory(4096);
    std::vector<char> earlier(4096, 'x'), seen(4096);
    Stream stream;
    device::cuda::copy_to_device(memory.as<std::byte>(), earlier.data(), 4096, stream);
    device::cuda::copy_to_host(seen.data(), memory.as<std::byte>(), 4096, stream);
    const DeviceRange range{100, 4096, memory.as<std::byte>()};
    reader.read(path_, {&range, 1}, stream);
    stream.wait();
    EXPECT_EQ(seen, earlier);
    EXPECT_EQ(std::memcmp(range.to, bytes_.data() + 100, 4096), 0);
  }
}

TEST_F(DeviceReading, PastTheEndNamesFileAndPlace) {
  DeviceBuffer memory(1000);
  for (const GpuDirect choice : {GpuDirect::on, GpuDirect::off}) {
    const std::string text = error_of(choice, path_, {19'999'900, 1000, memory.as<std::byte>()});
    EXPECT_EQ(text, path_ + ": 1000 bytes at 19999900 wanted, 100 read: the file ends there");
    const std::string none = error_of(choice, path_ + "-none", {0, 1, memory.as<std::byte>()});
    EXPECT_EQ(none.rfind(path_ + "-none: cannot be opened: ", 0), 0u) << none;
  }
}

// What is written, by every way and for sizes around those of the parts.
class DeviceWriting : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::path(::testing::TempDir()) / "headrace-device-writer";
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  static std::vector<std::byte> pattern(std::size_t size) {
    std::vector<std::byte> bytes(size);
    std::uint32_t value = 7;
    for (std::byte& byte : bytes) {
      value = value * 1664525 + 1013904223;
      byte = static_cast<std::byte>(value >> 24);
    }
    return bytes;
  }
  std::filesystem::path folder_;
};

TEST_F(DeviceWriting, ByCufileAndThroughPinnedMemoryGivesTheMemory) {
  LocalStore store(folder_);
  for (const GpuDirect choice : {GpuDirect::on, GpuDirect::automatic, GpuDirect::off}) {
    DeviceWriter writer(choice);
    EXPECT_EQ(writer.how() == "cuFile", choice != GpuDirect::off) << writer.how();
    for (const std::size_t size : {0ul, 1ul, 4096ul, 100'001ul, 8ul << 20, (16ul << 20) + 5}) {
      const auto bytes = pattern(size);
      DeviceBuffer memory(size + 1);
      Stream stream;
      copy_to_device(memory.as<void>(), bytes.data(), size, stream);
      store.put_file("a/b", size, [&](const std::string& path) {
        writer.write(path, memory.as<std::byte>(), size, stream);
      });
      EXPECT_TRUE(store.get("a/b") == bytes) << size;
    }
  }
}

TEST_F(DeviceWriting, ThatFailsLeavesWhatWasThere) {
  LocalStore store(folder_);
  store.put_text("a", "before");
  const std::size_t size = 1'000'000;
  DeviceBuffer memory(size);
  const auto error_of = [&](GpuDirect choice, const auto& before_write) -> std::string {
    DeviceWriter writer(choice);
    Stream stream;
    try {
      store.put_file("a", size, [&](const std::string& path) {
        before_write(path);
        writer.write(path, memory.as<std::byte>(), size, stream);
      });
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::io);
      return error.what();
    }
    return {};
  };
  const auto remove = [](const std::string& path) { std::filesystem::remove(path); };
  for (const GpuDirect choice : {GpuDirect::on, GpuDirect::off}) {
    const std::string text = error_of(choice, remove);
    EXPECT_NE(text.find(": cannot be opened for writing: "), text.npos) << text;
  }
  setenv("HEADRACE_TEST_DISK_FULL", "0", 1);
  const std::string full = error_of(GpuDirect::on, [](const std::string&) {});
  unsetenv("HEADRACE_TEST_DISK_FULL");
  EXPECT_EQ(full.rfind(posix::describe_errno(ENOSPC) + " while writing ", 0), 0u) << full;
  EXPECT_NE(full.find(": 0 of 1000000 bytes were written"), full.npos) << full;
  EXPECT_EQ(store.get_text("a"), "before");
  EXPECT_EQ(store.list(""), std::vector<std::string>{"a"});
  EXPECT_EQ(store.remove_leftovers(), 0u);
}

TEST(Cufile, IsNotTouchedWhereTheDriverDoesNotStart) {
  void* library = dlopen(HR_FAKE_CUFILE, RTLD_NOW);
  ASSERT_NE(library, nullptr) << dlerror();
  auto* opened = static_cast<int*>(dlsym(library, "fake_cufile_opened"));
  const int before = *opened;
  EXPECT_EQ(Cufile("libheadrace_no_driver.so")
                .missing()
                .rfind("libheadrace_no_driver.so cannot be loaded (", 0),
            0u);
  setenv("HEADRACE_TEST_CUINIT", "100", 1);
  EXPECT_EQ(Cufile(HR_FAKE_CUFILE).missing(), "the CUDA driver does not start (cuInit: 100)");
  unsetenv("HEADRACE_TEST_CUINIT");
  EXPECT_EQ(*opened, before);
  EXPECT_EQ(Cufile(HR_FAKE_CUFILE).missing(), "");
  EXPECT_EQ(*opened, before + 1);
}

}  // namespace
}  // namespace headrace::storage
