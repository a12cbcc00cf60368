#include "learn/report/html.hpp"
#include "headrace/core/text.hpp"

#include <gtest/gtest.h>

namespace headrace::report {
namespace {

TEST(Escape, MarkupBecomesText) {
  EXPECT_EQ(escaped_markup("<a href=\"x\">&"), "&lt;a href=&quot;x&quot;&gt;&amp;");
}

TEST(Grouped, ThreeDigitsAtATime) {
  EXPECT_EQ(grouped(7), "7");
  EXPECT_EQ(grouped(1234567), "1&#8239;234&#8239;567");
  EXPECT_EQ(grouped(123456), "123&#8239;456");
}

TEST(Table, CellsAndAlignment) {
  const Table table{{"a", "b"}, {{"x", "1"}}, {false, true}};
  const std::string html = table.html();
  EXPECT_NE(html.find("<th>a</th><th class=\"n\">b</th>"), std::string::npos) << html;
  EXPECT_NE(html.find("<td>x</td><td class=\"n\">1</td>"), std::string::npos) << html;
}

}  // namespace
}  // namespace headrace::report
