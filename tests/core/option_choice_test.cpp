#include "headrace/core/option_choice.hpp"

#include <gtest/gtest.h>

#include "tests/core/error_of.hpp"

namespace headrace {
namespace {
enum class Fruit { apple, red_currant };
}  // namespace

template <>
inline constexpr auto kNamesOf<Fruit> = names<Fruit>({{Fruit::apple, "apple"},
                                                      {Fruit::red_currant, "red-currant"}});

namespace {

TEST(OptionChoice, IsAValueOrAUsageErrorWithTheNearestName) {
  EXPECT_EQ(choice_of<Fruit>("--fruit", "red-currant"), Fruit::red_currant);
  EXPECT_EQ(error_of(ErrorCode::usage, [] { choice_of<Fruit>("--fruit", "aple"); }),
            "--fruit aple: is none of apple, red-currant (did you mean 'apple'?)");
  EXPECT_EQ(error_of(ErrorCode::usage, [] { choice_of<Fruit>("fruit", "quince"); }),
            "fruit quince: is none of apple, red-currant");
}

TEST(OptionChoice, OfAFileSaysWhere) {
  EXPECT_EQ(stated_choice<Fruit>(ErrorCode::usage, "t.csv, line 2", "fruit", "apple"),
            Fruit::apple);
  EXPECT_EQ(
      error_of(ErrorCode::malformed,
               [] { stated_choice<Fruit>(ErrorCode::malformed, "image a", "fruit", "appel"); }),
      "image a: fruit 'appel' is none of apple, red-currant (did you mean 'apple'?)");
}

}  // namespace
}  // namespace headrace
