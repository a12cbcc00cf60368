#include "headrace/core/unicode_text.hpp"

#include <gtest/gtest.h>

namespace headrace {
namespace {

TEST(UnicodeText, BlanksAreTrimmed) {
  EXPECT_EQ(without_outer_blanks(" \t a b\r\n"), "a b");
  EXPECT_EQ(without_outer_blanks("\xC2\xA0"
                                 "A\xC2\xA0"),
            "A");                                                               // U+00A0
  EXPECT_EQ(without_outer_blanks("\xE2\x80\x8BS1.tif\xE2\x80\x8B"), "S1.tif");  // U+200B
  EXPECT_EQ(without_outer_blanks("\xEF\xBB\xBF\xE3\x80\x80x\xE2\x80\x89"),
            "x");  // U+FEFF, U+3000, U+2009
  EXPECT_EQ(without_outer_blanks("\xC3\xA9 \xC2\xB5m"), "\xC3\xA9 \xC2\xB5m");
  EXPECT_EQ(without_outer_blanks("\xC2\xA0 \xE2\x80\x8B"), "");
  EXPECT_EQ(without_outer_blanks(""), "");
}

TEST(UnicodeText, NamesThatAreWrittenInSeveralWaysAreAlike) {
  const auto alike = [](const char* a, const char* b) {
    return loosely_written(a) == loosely_written(b);
  };
  EXPECT_TRUE(alike("A", "a"));
  EXPECT_TRUE(alike("007", "7"));
  EXPECT_TRUE(alike("P-01", "p-1"));
  EXPECT_TRUE(alike("0", "000"));
  EXPECT_TRUE(alike("1.0", "1"));
  EXPECT_TRUE(alike("A 1",
                    "A\xC2\xA0"
                    "1"));
  EXPECT_TRUE(alike("\xC3\xA9", "e\xCC\x81"));              // U+00E9; e, U+0301
  EXPECT_TRUE(alike("\xC3\x89", "e\xCC\x81"));              // U+00C9
  EXPECT_TRUE(alike("\xE1\xBA\xBF", "e\xCC\x82\xCC\x81"));  // U+1EBF; e, U+0302, U+0301
  EXPECT_TRUE(alike("\xD0\x99", "\xD0\xB8\xCC\x86"));       // U+0419; U+0438, U+0306
  EXPECT_FALSE(alike("\xC3\xA9", "e"));
  EXPECT_FALSE(alike("10", "1"));
  EXPECT_FALSE(alike("100", "1"));
  EXPECT_FALSE(alike("1.05", "1.5"));
  EXPECT_FALSE(alike("1.1", "1"));
  EXPECT_FALSE(alike("P.0", "P"));
  EXPECT_FALSE(alike("a-b", "ab"));
}

}  // namespace
}  // namespace headrace
