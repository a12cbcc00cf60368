// A full disk, a broken tile, a stopped run: one sentence, nothing that looks whole, and a next run
// that goes on.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>

#include "headrace/core/posix.hpp"
#include "headrace/storage/local_store.hpp"
#include "headrace/zarr/array.hpp"
#include "learn/process/process.hpp"
#include "tests/learn/process/generated_image.hpp"

namespace headrace::process {
namespace {

std::atomic<std::int64_t> bytes_left;
ssize_t write_until_full(int fd, const void* src, std::size_t count) {
  if ((bytes_left -= static_cast<std::int64_t>(count)) < 0) {
    errno = ENOSPC;
    return -1;
  }
  return ::write(fd, src, count);
}

/// While it lives the disk has room for so many bytes.
class SmallDisk {
 public:
  explicit SmallDisk(std::int64_t bytes) {
    bytes_left = bytes;
    kept_ = posix::calls().write;
    posix::calls().write = write_until_full;
  }
  ~SmallDisk() { posix::calls().write = kept_; }

 private:
  ssize_t (*kept_)(int, const void*, std::size_t);
};

class Interrupted : public testing::Test {
 protected:
  Interrupted() {
    options_.operation.name = OperationName::sobel;
    options_.sink.chunk = 256;
    options_.sink.path = folder_ / "out";
  }

  ProcessReport run() { return process_image(image_, options_, pool_); }
  std::string failure() {
    try {
      run();
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  }
  /// What a whole run elsewhere stores.
  std::map<std::string, std::string> whole() {
    ProcessOptions other = options_;
    other.sink.path = folder_ / "whole";
    process_image(image_, other, pool_);
    return objects_of(folder_ / "whole");
  }
  void expect_no_image() {
    EXPECT_THROW(zarr::Array::open(std::make_shared<storage::LocalStore>(options_.sink.path), "0"),
                 Error);
    try {
      ImageSource::open(options_.sink.path, "", 0);
      ADD_FAILURE() << "opened";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::corrupt);
      EXPECT_NE(std::string(error.what()).find("was not finished"), std::string::npos)
          << error.what();
    }
  }

  Folder folder_;
  GeneratedImage image_{1500, 1300};
  ProcessOptions options_;
  ThreadPool pool_{2};
};

TEST_F(Interrupted, AFullDiskIsNamedAndTheNextRunGoesOn) {
  {
    const SmallDisk disk(2'000'000);  // seven chunks of 36
    EXPECT_NE(failure().find("disk full"), std::string::npos) << failure();
  }
  expect_no_image();
  const ProcessReport report = run();
  EXPECT_GE(report.counts.kept, 5u);
  EXPECT_EQ(report.counts.kept + report.counts.written, 36u);
  EXPECT_EQ(objects_of(options_.sink.path), whole());
}

TEST_F(Interrupted, ABrokenTileIsNamedOnAnyThreadCount) {
  image_.broken_y = 800;
  image_.broken_x = 500;
  std::vector<std::string> found;
  for (const int threads : {1, 2, 5}) {
    ThreadPool pool(threads);
    try {
      process_image(image_, options_, pool);
    } catch (const Error& error) {
      found.push_back(error.what());
    }
  }
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(found[0], "generated: tile at 768,480 cannot be decoded");
  EXPECT_EQ(found[0], found[1]);
  EXPECT_EQ(found[0], found[2]);
  expect_no_image();
  image_.broken_y = -1;
  run();
  EXPECT_EQ(objects_of(options_.sink.path), whole());
}

TEST_F(Interrupted, ChunksOfOtherSettingsAreNotKept) {
  {
    const SmallDisk disk(2'000'000);
    EXPECT_NE(failure(), "");
  }
  options_.operation.output = OutputType::uint8;
  EXPECT_EQ(run().counts.kept, 0u);
  EXPECT_EQ(objects_of(options_.sink.path), whole());
}

TEST_F(Interrupted, AFinishedImageIsReplacedOnlyOnRequest) {
  run();
  EXPECT_NE(failure().find("give overwrite"), std::string::npos);
  options_.sink.overwrite = true;
  options_.operation.name = OperationName::save;
  run();
  EXPECT_EQ(ImageSource::open(options_.sink.path, "", 0)->info().channels, 3);
  EXPECT_EQ(objects_of(options_.sink.path), whole());
}

TEST_F(Interrupted, AFolderOfOthersIsLeftAlone) {
  std::filesystem::create_directories(options_.sink.path);
  std::ofstream(options_.sink.path + "/thesis.txt") << "years of work";
  EXPECT_NE(failure().find("other things"), std::string::npos) << failure();
  EXPECT_EQ(objects_of(options_.sink.path).size(), 1u);
}

TEST_F(Interrupted, ATiffThatFailsLeavesNothing) {
  options_.sink.path = folder_ / "out.tif";
  image_.broken_y = image_.broken_x = 800;
  EXPECT_NE(failure(), "");
  EXPECT_TRUE(objects_of(folder_ / "").empty());
}

TEST_F(Interrupted, WhatWasStoredIsReadBackAsItWas) {
  options_.operation.name = OperationName::save;
  run();
  const auto stored = ImageSource::open(options_.sink.path, "", 0);
  ASSERT_EQ(stored->info().height, 1500);
  EXPECT_EQ(stored->info().mpp_x, 0.5);
  std::vector<std::uint8_t> pixels(1500 * 1300 * 3);
  stored->read({0, 0, 1500, 1300}, pixels.data(), 1300 * 3);
  EXPECT_EQ(std::memcmp(pixels.data(), image_.at(0, 0), pixels.size()), 0);
}

}  // namespace
}  // namespace headrace::process
