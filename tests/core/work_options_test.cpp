#include "headrace/core/work_options.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/core/error_of.hpp"

namespace {
enum class Tide { low, high };
}  // namespace

template <>
inline constexpr auto headrace::kNamesOf<Tide> = headrace::names<Tide>({{Tide::low, "low"},
                                                                        {Tide::high, "high"}});

namespace headrace {
namespace {

struct Voyage {
  std::string ship = "ark";
  std::vector<std::string> crew;
  int days = 40;
  double share = 0.5;
  std::optional<double> knots;
  std::vector<double> place;
  bool by_night = false;
  Tide tide = Tide::low;
  std::vector<Tide> tides{Tide::low, Tide::high};

  WorkOptions options() {
    return {WorkOption{"ship", &ship, "its name", ""}.as_argument("SHIP").must_be_given(),
            {"crew", &crew, "their names", ""},
            WorkOption{"days", &days, "at sea", "Time"}.within(1, 100).hashed(),
            WorkOption{"share", &share, "of the catch", ""}.within(0, 1, "a part"),
            WorkOption{"knots", &knots, "its speed", ""}.hashed_if(knots.has_value()),
            WorkOption{"place", &place, "of departure", ""}.takes(2),
            {"by_night", &by_night, "or by day", ""},
            WorkOption{"tide", choice_variable(tide), "at departure", ""}.hashed(),
            {"tides", choices_variable(tides), "that will do", ""}};
  }
};

Voyage read(const std::string& json) {
  Voyage voyage;
  YamlMap map = YamlMap::parse(json, "voyage");
  read_fields(map, fields_of(voyage.options()));
  map.finish();
  return voyage;
}

TEST(WorkOptions, AreReadByKey) {
  const Voyage voyage = read(
      R"({"ship": "argo", "crew": ["a", "b"], "days": 7, "share": 0.25, "knots": 3,
          "place": [1, -2], "by_night": true, "tide": "high", "tides": ["high"]})");
  EXPECT_EQ(voyage.ship, "argo");
  EXPECT_EQ(voyage.crew, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(voyage.days, 7);
  EXPECT_EQ(voyage.share, 0.25);
  EXPECT_EQ(voyage.knots, 3.0);
  EXPECT_EQ(voyage.place, (std::vector<double>{1, -2}));
  EXPECT_TRUE(voyage.by_night);
  EXPECT_EQ(voyage.tide, Tide::high);
  EXPECT_EQ(voyage.tides, std::vector{Tide::high});
}

TEST(WorkOptions, KeepWhatIsNotGiven) {
  const Voyage voyage = read(R"({"days": null})");
  EXPECT_EQ(voyage.days, 40);
  EXPECT_EQ(voyage.tides.size(), 2u);
}

TEST(WorkOptions, RefuseOtherKeysAndWords) {
  EXPECT_NE(error_of(ErrorCode::usage, [] { read(R"({"day": 7})"); }).find("days"),
            std::string::npos);
  EXPECT_NE(error_of(ErrorCode::usage, [] { read(R"({"tides": ["hight"]})"); }).find("'high'"),
            std::string::npos);
}

TEST(WorkOptions, LimitsAreCheckedApart) {
  Voyage voyage = read(R"({"days": 101})");
  EXPECT_EQ(error_of(ErrorCode::usage, [&] { check_limits(voyage.options()); }),
            "days 101: must be 1 to 100");
  voyage.days = 100;
  check_limits(voyage.options());
  voyage.share = std::nan("");
  EXPECT_EQ(error_of(ErrorCode::usage, [&] { check_limits(voyage.options()); }),
            "share nan: must be a part");
}

TEST(WorkOptions, HashedAreThoseThatSaySo) {
  Voyage voyage;
  EXPECT_EQ(hashed_json(fields_of(voyage.options())),
            Json::parse(R"({"days": 40, "tide": "low"})"));
  voyage.knots = 3;
  EXPECT_EQ(hashed_json(fields_of(voyage.options())).at("knots"), 3.0);
}

TEST(WorkOptions, ListsOfKeysHaveDefaultsLimitsAndChoices) {
  Voyage voyage;
  const auto keys = list_keys(fields_of(voyage.options()));
  ASSERT_EQ(keys.size(), 9u);
  EXPECT_EQ(keys[2].default_text, "40");
  EXPECT_EQ(keys[2].accepts, "1 to 100");
  EXPECT_EQ(keys[8].default_text, "[low, high]");
  EXPECT_EQ(keys[8].choices, (std::vector<std::string>{"low", "high"}));
}

}  // namespace
}  // namespace headrace
