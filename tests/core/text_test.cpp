#include "headrace/core/text.hpp"

#include <gtest/gtest.h>
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
  EXPECT_EQ(code_of(folder), ErrorCode::io);  // a folder opens, but has no bytes
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace headrace
