#include "headrace/core/foreign_error.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <map>

#include "tests/core/error_of.hpp"

namespace headrace {
namespace {

TEST(ForeignError, OfTheFileSystemNamesThePathAndTheReason) {
  const std::filesystem::filesystem_error error("status", "/a/loop",
                                                std::make_error_code(std::errc::io_error));
  const auto known = error_from(error);
  ASSERT_TRUE(known);
  EXPECT_EQ(known->code(), ErrorCode::io);
  EXPECT_STREQ(known->what(), "/a/loop: can't be used: Input/output error");
  EXPECT_FALSE(error_from(std::runtime_error("a bug")));
}

TEST(ForeignError, ContentOfAnotherKindNamesTheFileAndNoLibrary) {
  const Json wrong = Json::parse(R"({"scanners": 1.5})");
  EXPECT_EQ(
      error_of(
          ErrorCode::malformed,
          [&] { taking_apart("eval.json", [&] { return wrong.at("scanners").value("a", 1); }); }),
      "eval.json: a value is of another kind than expected: found number, expected an object or "
      "a list");
  EXPECT_EQ(
      error_of(
          ErrorCode::malformed,
          [&] { taking_apart("eval.json", [] { return std::map<std::string, int>().at("P1"); }); }),
      "eval.json: a name that another part of it refers to is missing");
}

}  // namespace
}  // namespace headrace
