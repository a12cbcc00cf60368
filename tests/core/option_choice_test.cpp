#include "headrace/core/option_choice.hpp"

#include <gtest/gtest.h>

namespace headrace {
namespace {
enum class Fruit { apple, red_currant };
}  // namespace

template <>
inline constexpr auto kNamesOf<Fruit> = names<Fruit>({{Fruit::apple, "apple"},
                                                      {Fruit::red_currant, "red-currant"}});

namespace {

template <typename Body>
std::string refusal(ErrorCode code, const Body& body) {
  try {
    body();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code);
    return error.what();
  }
  return "";
}

TEST(OptionChoice, IsAValueOrAUsageErrorWithTheNearestName) {
  EXPECT_EQ(choice_of<Fruit>("--fruit", "red-currant"), Fruit::red_currant);
  EXPECT_EQ(refusal(ErrorCode::usage, [] { choice_of<Fruit>("--fruit", "aple"); }),
            "--fruit aple: is none of apple, red-currant (did you mean 'apple'?)");
  EXPECT_EQ(refusal(ErrorCode::usage, [] { choice_of<Fruit>("fruit", "quince"); }),
            "fruit quince: is none of apple, red-currant");
}

TEST(OptionChoice, OfAFileSaysWhere) {
  EXPECT_EQ(stated_choice<Fruit>(ErrorCode::usage, "t.csv, line 2", "fruit", "apple"),
            Fruit::apple);
  EXPECT_EQ(
      refusal(ErrorCode::malformed,
              [] { stated_choice<Fruit>(ErrorCode::malformed, "image a", "fruit", "appel"); }),
      "image a: fruit 'appel' is none of apple, red-currant (did you mean 'apple'?)");
}

}  // namespace
}  // namespace headrace
