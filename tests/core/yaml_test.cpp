#include "headrace/core/yaml.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <functional>
#include <string>

#include "headrace/core/error.hpp"

namespace headrace {
namespace {

std::string message_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::usage) << error.what();
    return error.what();
  }
  return "no error";
}

YamlMap parse(const std::string& text) { return YamlMap::parse(text, "run.yaml"); }

TEST(Yaml, ValuesOfEveryTypeAreRead) {
  auto map = parse("a: true\nb: -7\nc: 1.5e-3\nd: two words\ne: zstd\nf: [1, 2]\ng: {x: 3}\n");
  EXPECT_TRUE(map.get_bool("a", false));
  EXPECT_EQ(map.get_int("b", 0, -10, 10), -7);
  EXPECT_EQ(map.get_double("c", 0, 0, 1), 1.5e-3);
  EXPECT_EQ(map.get_string("d", ""), "two words");
  EXPECT_EQ(map.get_choice("e", "gzip", {"gzip", "zstd"}), "zstd");
  EXPECT_EQ(map.require("f").as_list(2)[1].as_int(0, 9), 2);
  auto inner = map.map("g");
  EXPECT_EQ(inner.get_int("x", 0, 0, 9), 3);
  inner.finish();
  map.finish();
}

TEST(Yaml, AbsentAndEmptyKeysTakeTheFallback) {
  auto map = parse("a:\nb: ~\n");
  EXPECT_EQ(map.get_int("a", 4, 0, 9), 4);
  EXPECT_EQ(map.get_string("b", "x"), "x");
  EXPECT_EQ(map.get_double("missing", 0.5, 0, 1), 0.5);
  map.finish();
  parse("").finish();
}

TEST(Yaml, AnUnknownKeyIsNamedWithLineAndNearestKey) {
  auto map = parse("seed: 1\n\nbatchs: 3\n");
  map.get_int("seed", 0, 0, 9);
  map.get_int("batch", 0, 0, 9);
  EXPECT_EQ(message_of([&] { map.finish(); }),
            "run.yaml:3: unknown key 'batchs'. Did you mean 'batch'?");
}

TEST(Yaml, AnUnknownKeyFarFromAllListsTheValidOnes) {
  auto map = parse("data: {completely_different: 1}\n");
  auto data = map.map("data");
  data.get_string("store", "");
  data.get_string("labels", "");
  EXPECT_EQ(message_of([&] { data.finish(); }),
            "run.yaml:1: unknown key 'completely_different' in 'data'. Valid keys: store, labels");
}

TEST(Yaml, AWrongTypeIsNamedWithItsPath) {
  auto map = parse("patch:\n  mpp: fine\n  size: [1, x]\n  flip: yes\n");
  auto patch = map.map("patch");
  EXPECT_EQ(message_of([&] { patch.get_double("mpp", 1, 0, 9); }),
            "run.yaml:2: patch.mpp: expected a number, found 'fine'");
  EXPECT_EQ(message_of([&] { patch.require("size").as_list()[1].as_int(0, 9); }),
            "run.yaml:3: patch.size[1]: expected a whole number, found 'x'");
  EXPECT_EQ(message_of([&] { patch.get_bool("flip", true); }),
            "run.yaml:4: patch.flip: expected true or false, found 'yes'");
  EXPECT_EQ(message_of([&] { patch.get_int("size", 0, 0, 9); }),
            "run.yaml:3: patch.size: expected a whole number, found a list of 2");
  EXPECT_EQ(message_of([&] { map.get_string("patch", ""); }),
            "run.yaml:2: patch: expected text, found a mapping");
}

TEST(Yaml, AnImpossibleValueSaysWhatIsAccepted) {
  auto map = parse(
      "batch: 0\nlr: .nan\nbig: 99999999999999999999\nhalf: 1.5\ncodec: zst\npair: [1, 2, 3]\n");
  EXPECT_EQ(message_of([&] { map.get_int("batch", 1, 1, 64); }),
            "run.yaml:1: batch: expected 1 to 64, found 0");
  EXPECT_EQ(message_of([&] { map.get_double("lr", 1, 0, 1); }),
            "run.yaml:2: lr: expected a number, found '.nan'");
  EXPECT_EQ(message_of([&] { map.get_int("big", 1, 1, 64); }),
            "run.yaml:3: big: expected a whole number, found '99999999999999999999'");
  EXPECT_EQ(message_of([&] { map.get_int("half", 1, 1, 64); }),
            "run.yaml:4: half: expected a whole number, found '1.5'");
  EXPECT_EQ(message_of([&] {
              map.get_choice("codec", "gzip", {"gzip", "zstd"});
            }),
            "run.yaml:5: codec: 'zst' is none of: gzip, zstd. Did you mean 'zstd'?");
  EXPECT_EQ(message_of([&] { map.require("pair").as_list(2); }),
            "run.yaml:6: pair: expected a list of 2, found 3");
}

TEST(Yaml, ARepeatedKeyIsRefusedAtAnyDepth) {
  EXPECT_EQ(message_of([] { parse("a: 1\na: 2\n"); }),
            "run.yaml:2: key 'a' stands twice in the same mapping; keep one");
  EXPECT_EQ(message_of([] { parse("t:\n  - x: 1\n    y: 1\n    x: 2\n"); }),
            "run.yaml:4: key 'x' stands twice in the same mapping; keep one");
}

TEST(Yaml, ARequiredKeyThatIsAbsentIsNamed) {
  auto map = parse("a: 1\n");
  EXPECT_EQ(message_of([&] { map.require("task"); }),
            "run.yaml:1: top level: the key 'task' is required");
}

TEST(Yaml, BrokenYamlIsNamedWithItsLine) {
  const std::string text = message_of([] { parse("a: 1\nb: [1, 2\n"); });
  EXPECT_EQ(text.rfind("run.yaml:3: not valid YAML: ", 0), 0U) << text;
}

TEST(Yaml, AListOrAWordIsNoConfig) {
  EXPECT_EQ(message_of([] { parse("- 1\n- 2\n"); }),
            "run.yaml:1: top level: expected a mapping, found a list of 2");
  EXPECT_EQ(message_of([] { parse("hello\n"); }),
            "run.yaml:1: top level: expected a mapping, found 'hello'");
}

TEST(Yaml, AFileThatIsNotThereIsNotFound) {
  try {
    YamlMap::load("/nowhere/run.yaml");
    FAIL() << "opened";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::not_found);
    EXPECT_STREQ(error.what(), "/nowhere/run.yaml: the file can't be opened");
  }
}

TEST(Yaml, KeysComeInTheOrderOfTheFile) {
  EXPECT_EQ(parse("z: 1\na: 2\n").keys(), (std::vector<std::string>{"z", "a"}));
}

}  // namespace
}  // namespace headrace
