#include "headrace/core/csv.hpp"

#include <gtest/gtest.h>

#include "headrace/core/error.hpp"

namespace headrace {
namespace {

using Fields = std::vector<std::string>;

TEST(Csv, ReadsQuotesLineEndsByteOrderMarkAndCountsLines) {
  const auto rows = parse_csv(
      "\xEF\xBB\xBF"
      "a,b\r\n\"x, \"\"y\"\"\r\nz\",2\n\n,\nlast",
      "t.csv");
  ASSERT_EQ(rows.size(), 4U);
  EXPECT_EQ(rows[0].fields, (Fields{"a", "b"}));
  EXPECT_EQ(rows[1].fields, (Fields{"x, \"y\"\r\nz", "2"}));
  EXPECT_EQ(rows[1].line, 2);
  EXPECT_EQ(rows[2].fields, (Fields{"", ""}));
  EXPECT_EQ(rows[2].line, 5);
  EXPECT_EQ(rows[3].fields, (Fields{"last"}));
}

TEST(Csv, NamesTheLineOfABrokenQuote) {
  for (const auto& [text, line] : {std::pair{"a\n\"open", "line 2"}, {"\"a\"b\n", "line 1"}}) {
    try {
      parse_csv(text, "t.csv");
      FAIL();
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::malformed);
      EXPECT_NE(std::string(error.what()).find(std::string("t.csv, ") + line), std::string::npos)
          << error.what();
    }
  }
}

}  // namespace
}  // namespace headrace
