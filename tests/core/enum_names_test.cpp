#include "headrace/core/enum_names.hpp"

#include <gtest/gtest.h>

namespace {
enum class Fruit { apple, red_currant };
enum class Nameless { one };
}  // namespace

template <>
inline constexpr auto headrace::kNamesOf<Fruit> =
    headrace::names<Fruit>({{Fruit::red_currant, "red-currant"}, {Fruit::apple, "apple"}});

namespace headrace {
namespace {

TEST(EnumNames, GivesTheNameOfAValueAndTheValueOfAName) {
  EXPECT_EQ(name_of(Fruit::apple), "apple");
  EXPECT_EQ(name_of(Fruit::red_currant), "red-currant");
  EXPECT_EQ(value_named<Fruit>("red-currant"), Fruit::red_currant);
  EXPECT_EQ(value_named<Fruit>("red_currant"), std::nullopt);
  EXPECT_EQ(value_named<Fruit>(""), std::nullopt);
}

TEST(EnumNames, ListsNamesInTheirOwnOrder) {
  EXPECT_EQ(names_of<Fruit>(), (std::vector<std::string>{"red-currant", "apple"}));
}

static_assert(NamedEnum<Fruit> && !NamedEnum<Nameless>);

}  // namespace
}  // namespace headrace
