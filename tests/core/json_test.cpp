#include "headrace/core/json.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cstdint>

#include "headrace/core/error.hpp"
#include "headrace/core/json_depth.hpp"

namespace headrace {
namespace {

TEST(JsonText, KeysAreSortedSoThatEqualValuesAreEqualText) {
  Json a, b;
  a["zeta"] = 1;
  a["alpha"] = {1, 2};
  b["alpha"] = {1, 2};
  b["zeta"] = 1;
  EXPECT_EQ(dump_json(a), dump_json(b));
  EXPECT_EQ(dump_json(a), "{\n  \"alpha\": [\n    1,\n    2\n  ],\n  \"zeta\": 1\n}\n");
}

TEST(JsonText, DoublesSurviveARoundTripBitForBit) {
  for (const double value : {0.1, 1.0 / 3, 5e-324, 1.7976931348623157e308, -0.0, 0.2524}) {
    const Json back = parse_json(dump_json(Json{{"v", value}}), "x");
    EXPECT_EQ(std::bit_cast<std::uint64_t>(back["v"].get<double>()),
              std::bit_cast<std::uint64_t>(value))
        << value;
  }
}

TEST(JsonText, ABrokenTextIsNamedWithItsByte) {
  try {
    parse_json("{\"a\": 1,,}", "images/x/zarr.json");
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::malformed);
    EXPECT_NE(std::string(error.what()).find("images/x/zarr.json: not valid JSON at byte 9"),
              std::string::npos)
        << error.what();
  }
}

TEST(JsonText, EveryTruncationOfAnObjectIsRefused) {
  const std::string whole = R"({"a":[1,{"b":"c"}],"d":null})";
  for (std::size_t n = 0; n < whole.size(); ++n) {
    EXPECT_THROW(parse_json(std::string_view(whole).substr(0, n), "x"), Error) << n;
  }
  EXPECT_NO_THROW(parse_json(whole, "x"));
}

TEST(JsonText, NestsNoDeeperThanItsWalksGo) {
  const auto nested = [](std::size_t depth) {
    return std::string(depth, '[') + std::string(depth, ']');
  };
  EXPECT_NO_THROW(parse_json(nested(kMostJsonDepth), "x"));
  EXPECT_THROW(parse_json(nested(kMostJsonDepth + 1), "x"), Error);
  EXPECT_THROW(parse_json(std::string(300000, '{'), "x"), Error);
  EXPECT_TRUE(json_or_discarded(nested(200000)).is_discarded());
  EXPECT_TRUE(json_or_discarded("1e999").is_discarded());
  EXPECT_EQ(json_or_discarded(R"({"a": "[[[[\"[[["})"), (Json{{"a", "[[[[\"[[["}}));
  EXPECT_FALSE(nests_too_deep("\"" + std::string(200, '[') + "\""));
  std::string wide = "[";
  for (int i = 0; i < 200; ++i) wide += "[],";
  EXPECT_FALSE(nests_too_deep(wide + "0]"));
}

TEST(JsonPaths, AValueIsFoundWhereItWasPut) {
  Json json;
  put_at(json, {"dice", "tumour"}, 0.5);
  put_at(json, {"mean_dice"}, or_null(std::optional<double>()));
  EXPECT_EQ(json, (Json{{"dice", {{"tumour", 0.5}}}, {"mean_dice", nullptr}}));
  ASSERT_NE(find_at(json, {"dice", "tumour"}), nullptr);
  EXPECT_EQ(*find_at(json, {"dice", "tumour"}), 0.5);
  ASSERT_NE(find_at(json, {"mean_dice"}), nullptr);
  EXPECT_TRUE(find_at(json, {"mean_dice"})->is_null());
}

TEST(JsonPaths, APathThatLeadsNowhereFindsNothing) {
  const Json json{{"dice", {{"tumour", 0.5}}}};
  EXPECT_EQ(find_at(json, {"iou"}), nullptr);
  EXPECT_EQ(find_at(json, {"dice", "liver"}), nullptr);
  EXPECT_EQ(find_at(json, {"dice", "tumour", "mean"}), nullptr);  // a number has no keys
}

}  // namespace
}  // namespace headrace
