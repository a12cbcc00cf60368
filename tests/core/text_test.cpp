#include "headrace/core/text.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "headrace/core/error.hpp"
#include "headrace/core/read_file.hpp"

namespace headrace {
namespace {

TEST(Text, IsSplitIntoAllPartsAndEmptyOnesToo) {
  using Parts = std::vector<std::string>;
  EXPECT_EQ(split("a+b", '+'), (Parts{"a", "b"}));
  EXPECT_EQ(split("+a++", '+'), (Parts{"", "a", "", ""}));
  EXPECT_EQ(split("", '+'), Parts{""});
}

TEST(ReadFile, GivesEveryByteAndSaysWhyItCannot) {
  const auto folder =
      std::filesystem::temp_directory_path() / ("headrace-read-file-" + std::to_string(getpid()));
  std::filesystem::create_directories(folder);
  std::string bytes(200000, 'x');
  bytes[65536] = '\0';
  bytes.back() = '\n';
  std::ofstream(folder / "long", std::ios::binary) << bytes;
  std::ofstream(folder / "empty", std::ios::binary);
  EXPECT_EQ(read_file(folder / "long"), bytes);
  EXPECT_EQ(read_file(folder / "empty"), "");
  const auto code_of = [](const std::filesystem::path& path) {
    try {
      read_file(path);
    } catch (const Error& error) {
      return error.code();
    }
    return ErrorCode::internal;
  };
  EXPECT_EQ(code_of(folder / "none"), ErrorCode::not_found);
  EXPECT_EQ(code_of(folder), ErrorCode::io);
  std::filesystem::create_symlink("nowhere", folder / "link");
  EXPECT_EQ(code_of(folder / "link"), ErrorCode::not_found);
  ASSERT_EQ(::mkfifo((folder / "fifo").c_str(), 0600), 0);
  EXPECT_EQ(code_of(folder / "fifo"), ErrorCode::io);  // without waiting for a writer
  EXPECT_EQ(code_of("/dev/zero"), ErrorCode::io);
  EXPECT_EQ(read_file(folder / "long", bytes.size()), bytes);
  EXPECT_THROW(read_file(folder / "long", bytes.size() - 1), Error);
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace headrace
