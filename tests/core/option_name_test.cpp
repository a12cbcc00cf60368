#include "headrace/core/option_name.hpp"

#include <gtest/gtest.h>

namespace headrace {
namespace {

TEST(OptionName, IsTheFieldsUntilTheProgramHasFlags) {
  EXPECT_EQ(fmt::format("{} {}: no", Option{"on_error"}, "stay"), "on_error stay: no");
  name_options_as(OptionStyle::command_line);
  EXPECT_EQ(fmt::format("{} {}: no", Option{"on_error"}, "stay"), "--on-error stay: no");
  EXPECT_EQ(to_string(Option{"out"}), "--out");
  name_options_as(OptionStyle::field);
  EXPECT_EQ(to_string(Option{"out"}), "out");
}

}  // namespace
}  // namespace headrace
