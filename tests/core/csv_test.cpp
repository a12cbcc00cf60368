#include "headrace/core/csv.hpp"

#include <gtest/gtest.h>

#include "headrace/core/csv_line.hpp"
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

TEST(Csv, KnowsTheSeparatorsAndLineEndsOfSpreadsheets) {
  const auto first_two = [](const std::string& text) {
    const auto rows = parse_csv(text, "t.csv");
    return std::pair{rows.at(0).fields, rows.at(1).fields};
  };
  const std::pair expected{Fields{"file", "mpp"}, Fields{"a.tif", "0,5"}};
  EXPECT_EQ(first_two("file;mpp\r\na.tif;0,5\r\n"), expected);
  EXPECT_EQ(first_two("file\tmpp\ra.tif\t0,5\r"), expected);
  EXPECT_EQ(first_two("sep=;\r\nfile;mpp\r\na.tif;0,5"), expected);
  EXPECT_EQ(first_two("file,mpp\na.tif,\"0,5\"\n"), expected);
  EXPECT_EQ(first_two("\"file;x\",mpp\na;b,2\n").second, (Fields{"a;b", "2"}));
  EXPECT_EQ(parse_csv("a\r\"x\ry\"\rb", "t.csv").at(2).line, 4);
}

TEST(CsvLine, NoSpreadsheetComputesAText) {
  for (const std::string text : {"=HYPERLINK(\"http://x\")", "+1", "-x", "@a", "\tb"}) {
    const std::string line = csv_line({text, 1});
    const auto rows = parse_csv(line, "t.csv");
    EXPECT_EQ(rows.front().fields[0], "'" + text);
    EXPECT_EQ(plain_cell(rows.front().fields[0]), text);
  }
  EXPECT_EQ(csv_line({"a-b", "-", "'x", -1.5, nullptr}), "a-b,-,'x,-1.5,\n");
  EXPECT_EQ(plain_cell("'x"), "'x");
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
