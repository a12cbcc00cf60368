#include "headrace/core/fields.hpp"

#include <gtest/gtest.h>

#include "headrace/core/error.hpp"

namespace {
enum class Taste { sweet, sour, bitter };
}  // namespace

template <>
inline constexpr auto headrace::kNamesOf<Taste> = headrace::names<Taste>(
    {{Taste::sweet, "sweet"}, {Taste::sour, "sour"}, {Taste::bitter, "bitter"}});

namespace headrace {
namespace {

struct Peel {
  double thickness_mm = 0.5;
};

struct Fruit {
  std::uint64_t seeds = 4;
  double mass = 1.5;
  bool ripe = false;
  Taste taste = Taste::sweet;
  double acid = 0.1;
  std::string name = "apple", note = "n";
  std::vector<std::string> colours;
  std::vector<int> years{1, 2};
  std::array<double, 2> size{1, 2};
  Peel peel;

  Fields fields() {
    return {
        {"seeds", form::number(seeds, 0, INT64_MAX), "how many"},
        {"mass", form::number(mass, 0, 9), "in grams"},
        Field{"ripe", form::flag(ripe), "or not"}.hashed_if(ripe),
        {"taste", form::choice(taste, {Taste::sweet, Taste::sour}), "of it"},
        Field{"acid", form::number(acid, 0, 1), "part"}.unless([this] {
          return taste == Taste::sour ? std::string() : std::string("is for sour fruit");
        }),
        Field{"name", form::text(name), "its name"}.decides_nothing(),
        {"note", form::text_or_null(note), "free text"},
        Field{"colours", form::distinct_texts(colours, "colour"), "of the peel", "every colour"}
            .written_if(!colours.empty()),
        {"years", form::numbers(years, 0, 9), "of harvests"},
        {"size", form::numbers(size, 0, 9), "height, width"},
        {"peel",
         form::section({{"thickness_mm", form::number(peel.thickness_mm, 0, 5), "of the peel"}}),
         ""},
    };
  }
};

Fruit read(const std::string& text) {
  Fruit fruit;
  YamlMap map = YamlMap::parse(text, "f.yaml");
  read_fields(map, fruit.fields());
  map.finish();
  return fruit;
}

std::string refusal(const std::string& text) {
  try {
    read(text);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::usage);
    return error.what();
  }
  return "accepted";
}

TEST(Fields, ReadsWhatIsGivenAndKeepsTheRest) {
  const Fruit fruit = read(
      "seeds: 7\ntaste: sour\nacid: 0.5\nnote: null\ncolours: [red, green]\nyears: []\n"
      "size: [3, 4]\npeel: {thickness_mm: 2}\nmass: null\n");
  EXPECT_EQ(fruit.seeds, 7u);
  EXPECT_EQ(fruit.mass, 1.5) << "null leaves the default";
  EXPECT_EQ(fruit.taste, Taste::sour);
  EXPECT_EQ(fruit.acid, 0.5);
  EXPECT_EQ(fruit.note, "");
  EXPECT_EQ(fruit.colours, (std::vector<std::string>{"red", "green"}));
  EXPECT_TRUE(fruit.years.empty());
  EXPECT_EQ(fruit.size, (std::array<double, 2>{3, 4}));
  EXPECT_EQ(fruit.peel.thickness_mm, 2);
  EXPECT_EQ(read("").name, "apple");
}

TEST(Fields, RefusesWithFileLineAndKey) {
  EXPECT_EQ(refusal("\nmass: 10\n"), "f.yaml:2: mass: expected 0 to 9, found 10");
  EXPECT_EQ(refusal("seeds: -1\n"), "f.yaml:1: seeds: expected 0 to 9223372036854775807, found -1");
  EXPECT_EQ(refusal("taste: bitter\n"), "f.yaml:1: taste: 'bitter' is none of: sweet, sour");
  EXPECT_EQ(refusal("acid: 0.5\n"), "f.yaml:1: acid: is for sour fruit");
  EXPECT_EQ(refusal("colours: [red, red]\n"),
            "f.yaml:1: colours[1]: colour 'red' stands twice in the list; keep one");
  EXPECT_EQ(refusal("size: [1]\n"), "f.yaml:1: size: expected a list of 2, found 1");
  EXPECT_EQ(refusal("peel: {thickness_mm: 6}\n"),
            "f.yaml:1: peel.thickness_mm: expected 0 to 5, found 6");
  EXPECT_EQ(refusal("peel: {thicknes_mm: 1}\n"),
            "f.yaml:1: unknown key 'thicknes_mm' in 'peel'. Did you mean 'thickness_mm'?");
}

TEST(Fields, JsonHasWhatBelongsAndTheHashWhatDecides) {
  Fruit fruit;
  EXPECT_EQ(fields_json(fruit.fields()), Json({{"seeds", 4},
                                               {"mass", 1.5},
                                               {"ripe", false},
                                               {"taste", "sweet"},
                                               {"name", "apple"},
                                               {"note", "n"},
                                               {"years", {1, 2}},
                                               {"size", {1.0, 2.0}},
                                               {"peel", {{"thickness_mm", 0.5}}}}));
  fruit.note.clear();
  fruit.colours = {"red"};
  fruit.taste = Taste::sour;
  const Json json = fields_json(fruit.fields());
  EXPECT_TRUE(json.at("note").is_null());
  EXPECT_EQ(json.at("colours"), Json({"red"}));
  EXPECT_EQ(json.at("acid"), 0.1);
  Json hashed = json;
  hashed.erase("name");
  hashed.erase("ripe");
  EXPECT_EQ(hashed_json(fruit.fields()), hashed);
  fruit.ripe = true;
  EXPECT_EQ(hashed_json(fruit.fields()).at("ripe"), true);
}

TEST(Fields, ListsEveryKeyWithItsDefault) {
  const auto keys = list_keys(Fruit().fields(), "fruit.");
  std::vector<std::string> names, defaults;
  for (const KeyFacts& key : keys) {
    names.push_back(key.key);
    defaults.push_back(key.default_text);
  }
  EXPECT_EQ(names,
            (std::vector<std::string>{"fruit.seeds", "fruit.mass", "fruit.ripe", "fruit.taste",
                                      "fruit.acid", "fruit.name", "fruit.note", "fruit.colours",
                                      "fruit.years", "fruit.size", "fruit.peel.thickness_mm"}));
  EXPECT_EQ(defaults, (std::vector<std::string>{"4", "1.5", "false", "sweet", "0.1", "apple", "n",
                                                "every colour", "[1, 2]", "[1, 2]", "0.5"}));
  EXPECT_EQ(keys[1].accepts, "0 to 9");
  EXPECT_EQ(keys[1].text, "in grams");
  EXPECT_EQ(keys[3].choices, (std::vector<std::string>{"sweet", "sour"}));
  EXPECT_TRUE(keys[5].decides_nothing);
  EXPECT_FALSE(keys[2].decides_nothing);
}

}  // namespace
}  // namespace headrace
