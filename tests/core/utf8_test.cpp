#include "headrace/core/utf8.hpp"

#include <gtest/gtest.h>

#include "headrace/core/error.hpp"
#include "headrace/core/json.hpp"

namespace headrace {
namespace {

using namespace std::string_literals;

TEST(Utf8, FindsTheFirstByteThatIsNot) {
  EXPECT_EQ(first_not_utf8("Kr\xC3\xA4he \xE7\x97\x85 \xF0\x9F\x94\xAC"), std::nullopt);
  // Latin-1, cut off, overlong, a surrogate, beyond U+10FFFF.
  for (const std::string bad :
       {"\xE9", "\xE7\x97", "\xC0\xAF", "\xE0\x9F\xBF", "\xED\xA0\x80", "\xF4\x90\x80\x80", "\x80"})
    EXPECT_EQ(first_not_utf8("ab" + bad), 2U) << bad.size();
  EXPECT_EQ(shown_text("K\xF6ln \xC3\xB6"), "K\\xF6ln \xC3\xB6");
}

TEST(Utf8, WhatSteersATerminalIsShownAsItsNumber) {
  EXPECT_EQ(shown_text("a\x1B]0;t\x07 b\r\n\tc\x7F"), "a\\u001B]0;t\\u0007 b\\u000D\n\tc\\u007F");
  EXPECT_EQ(shown_text("\xC2\x9B"
                       "2J \xE2\x80\xAE \xE2\x81\xA6"),
            "\\u009B2J \\u202E \\u2066");
  EXPECT_EQ(shown_text("\xD7\xA9\xD7\x9C \xE7\x97\x85 \xE2\x80\x94"),
            "\xD7\xA9\xD7\x9C \xE7\x97\x85 \xE2\x80\x94");
  EXPECT_EQ(first_control("ab\tc"), 2U);
  EXPECT_EQ(first_control("K\xC3\xB6ln, Abt. 3"), std::nullopt);
  EXPECT_EQ(why_no_plain_text("co\x1Bx"), "holds the control character U+001B");
  EXPECT_EQ(why_no_plain_text("cohort"), std::nullopt);
}

TEST(Utf8, TextFilesOfAnyUnicodeEncodingBecomeUtf8) {
  EXPECT_EQ(text_of_bytes("\xEF\xBB\xBFx", "t"), "x");
  EXPECT_EQ(text_of_bytes("\xFF\xFE\xE4\0a\0"s, "t"),
            "\xC3\xA4"
            "a");
  EXPECT_EQ(text_of_bytes("\xFE\xFF\0\xE4\xD8\x3D\xDD\x2C"s, "t"), "\xC3\xA4\xF0\x9F\x94\xAC");
  for (const std::string& bad : {"\xFF\xFE\xE4"s, "\xFF\xFE\x3D\xD8"s})
    EXPECT_THROW(text_of_bytes(bad, "t"), Error);
  try {
    text_of_bytes("file,case\r\na.tif,P1\r\nb.tif,K\xF6ln\r\n", "t.csv");
    FAIL();
  } catch (const Error& error) {
    const std::string text = error.what();
    EXPECT_NE(text.find("t.csv, line 3: 'b.tif,K\\xF6ln' is not UTF-8"), std::string::npos) << text;
    EXPECT_EQ(first_not_utf8(text), std::nullopt);
  }
}

TEST(Utf8, JsonWithOtherTextIsRefusedAndNotWritten) {
  EXPECT_THROW(parse_json("{\"a\": \"K\xF6ln\"}", "t.json"), Error);
  EXPECT_THROW(parse_json("[1e999]", "t.json"), Error);
  EXPECT_THROW(dump_json({{"a", "K\xF6ln"}}), Error);
}

}  // namespace
}  // namespace headrace
