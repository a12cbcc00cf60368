#include "headrace/core/error.hpp"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace headrace {
namespace {

TEST(Error, ContextIsPrependedAsItRises) {
  Error error(ErrorCode::corrupt, "crc32c differs");
  error.at("chunk c/0/1").at("image case-7");
  EXPECT_STREQ(error.what(), "image case-7: chunk c/0/1: crc32c differs");
  EXPECT_EQ(error.code(), ErrorCode::corrupt);
}

TEST(Error, FailFormatsItsText) {
  try {
    fail(ErrorCode::io, "read {} of {} bytes", 3, 9);
    FAIL() << "fail returned";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "read 3 of 9 bytes");
  }
}

TEST(Error, WithContextKeepsCodeAndReturnsTheValue) {
  EXPECT_EQ(with_context("never seen", [] { return 5; }), 5);
  try {
    with_context("slide a", [] { fail(ErrorCode::memory, "too large"); });
    FAIL() << "the error was lost";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "slide a: too large");
    EXPECT_EQ(error.code(), ErrorCode::memory);
  }
}

TEST(Error, WithContextLeavesOtherExceptionsAlone) {
  EXPECT_THROW(with_context("x", [] { throw std::bad_alloc(); }), std::bad_alloc);
}

TEST(Error, ExitCodesAreThoseOfTheCommandLine) {
  const std::vector<std::pair<ErrorCode, int>> table{
      {ErrorCode::usage, 2},       {ErrorCode::not_found, 1}, {ErrorCode::malformed, 1},
      {ErrorCode::unsupported, 1}, {ErrorCode::corrupt, 4},   {ErrorCode::io, 1},
      {ErrorCode::memory, 1},      {ErrorCode::device, 1},    {ErrorCode::cancelled, 1},
      {ErrorCode::diverged, 1},    {ErrorCode::internal, 1}};
  for (const auto& [code, expected] : table)
    EXPECT_EQ(exit_code(code), expected) << static_cast<int>(code);
}

}  // namespace
}  // namespace headrace
