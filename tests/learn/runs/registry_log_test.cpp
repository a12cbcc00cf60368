#include "learn/runs/registry_log.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <fstream>

#include "headrace/core/error.hpp"
#include "headrace/core/posix.hpp"
#include "headrace/core/read_file.hpp"
#include "headrace/core/sha256.hpp"
#include "tests/temporary_folder.hpp"

namespace headrace::runs {
namespace {

class RegistryLogTest : public ::testing::Test {
 protected:
  void TearDown() override { posix::calls() = calls_; }
  RegistryLog log() const { return RegistryLog::load(file_); }

  posix::Calls calls_ = posix::calls();
  const fixtures::TemporaryFolder folder_;
  const std::filesystem::path file_ = folder_.path("log.jsonl");
};

TEST_F(RegistryLogTest, EachLineHoldsTheHashOfTheOneBefore) {
  RegistryLog log = this->log();
  EXPECT_TRUE(log.head().is_null());
  log.append({{"name", "a"}, {"model", "1"}});
  log.append({{"name", "b"}, {"model", "2"}});
  log.append({{"name", "a"}, {"model", "3"}});
  const RegistryLog read = this->log();
  ASSERT_EQ(read.lines().size(), 3u);
  const std::string first = R"({"before":null,"model":"1","name":"a","number":1})";
  EXPECT_EQ(read.lines()[0].dump(), first);
  EXPECT_EQ(read.lines()[1].at("before"), sha256_hex(first));
  EXPECT_EQ(read.head(), sha256_hex(read.lines()[2].dump()));
  EXPECT_EQ(read.latest("a")->at("model"), "3");
  EXPECT_EQ(read.latest("b")->at("number"), 2);
  EXPECT_EQ(read.latest("c"), nullptr);
}

TEST_F(RegistryLogTest, WhatAKilledWriterLeftIsCutOff) {
  this->log().append({{"name", "a"}, {"model", "1"}});
  std::ofstream(file_, std::ios::app) << R"({"before":"12","na)";
  RegistryLog log = this->log();
  EXPECT_TRUE(log.has_rest());
  EXPECT_EQ(log.lines().size(), 1u);
  log.append({{"name", "a"}, {"model", "2"}});
  EXPECT_EQ(this->log().lines().size(), 2u);
  EXPECT_FALSE(this->log().has_rest());
}

TEST_F(RegistryLogTest, NothingIsAddedWhereTheDiskFails) {
  RegistryLog log = this->log();
  log.append({{"name", "a"}, {"model", "1"}});
  const std::string before = read_file(file_);
  const auto fails = [&] {
    try {
      log.append({{"name", "a"}, {"model", "2"}});
      ADD_FAILURE() << "no error";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::io);
      EXPECT_NE(std::string(error.what()).find("nothing was promoted"), std::string::npos);
    }
    EXPECT_EQ(read_file(file_), before);
  };
  posix::calls().fsync = [](int) {
    errno = EIO;
    return -1;
  };
  fails();
  posix::calls() = calls_;
  static ssize_t (*real)(int, const void*, std::size_t) = calls_.write;
  posix::calls().write = [](int fd, const void* src, std::size_t count) -> ssize_t {
    static int n = 0;
    if (n++ == 0) return real(fd, src, count / 2);  // a part of the line, then the disk is full
    errno = ENOSPC;
    return -1;
  };
  fails();
  posix::calls() = calls_;
  log.append({{"name", "a"}, {"model", "2"}});
  EXPECT_EQ(this->log().lines().size(), 2u);
}

TEST_F(RegistryLogTest, ADamagedLineIsNamed) {
  for (const char* text : {"{}\n", "[1]\n", "x\n", "\n"}) {
    std::ofstream(file_, std::ios::trunc) << text;
    try {
      this->log();
      ADD_FAILURE() << text;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::corrupt) << text;
      EXPECT_NE(std::string(error.what()).find("log.jsonl:1"), std::string::npos) << error.what();
    }
  }
}

}  // namespace
}  // namespace headrace::runs
