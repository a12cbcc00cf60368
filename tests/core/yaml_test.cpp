#include "headrace/core/yaml.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "tests/core/error_of.hpp"

namespace headrace {
namespace {

template <typename Action>
std::string message_of(const Action& action) {
  return error_of(ErrorCode::usage, action);
}

YamlMap parse(const std::string& text) { return YamlMap::parse(text, "run.yaml"); }

TEST(Yaml, ValuesOfEveryTypeAreRead) {
  auto map = parse("a: true\nb: -7\nc: 1.5e-3\nd: two words\ne: zstd\nf: [1, 2]\ng: {x: 3}\n");
  EXPECT_TRUE(map.require("a").as_bool());
  EXPECT_EQ(map.require("b").as_int(-10, 10), -7);
  EXPECT_EQ(map.require("c").as_double(0, 1), 1.5e-3);
  EXPECT_EQ(map.require("d").as_string(), "two words");
  EXPECT_EQ(map.require("e").as_choice({"gzip", "zstd"}), "zstd");
  EXPECT_EQ(map.require("f").as_list(2)[1].as_int(0, 9), 2);
  auto inner = map.map("g");
  EXPECT_EQ(inner.require("x").as_int(0, 9), 3);
  inner.finish();
  map.finish();
}

TEST(Yaml, TextInQuotesIsNeitherANumberNorATruthValue) {
  auto map = parse("a: \"3\"\nb: '0.5'\nc: \"true\"\nd: \"3\"\n");
  EXPECT_EQ(message_of([&] { map.require("a").as_int(0, 9); }),
            "run.yaml:1: a: expected a whole number, found the text '3'; write it without quotes");
  EXPECT_EQ(message_of([&] { map.require("b").as_double(0, 9); }),
            "run.yaml:2: b: expected a number, found the text '0.5'; write it without quotes");
  EXPECT_EQ(
      message_of([&] { map.require("c").as_bool(); }),
      "run.yaml:3: c: expected true or false, found the text 'true'; write it without quotes");
  EXPECT_EQ(map.require("d").as_string(), "3");
}

TEST(Yaml, AbsentAndEmptyKeysAreNotFound) {
  auto map = parse("a:\nb: ~\n");
  for (const char* key : {"a", "b", "missing"}) EXPECT_FALSE(map.find(key)) << key;
  map.finish();
  parse("").finish();
}

TEST(Yaml, AnUnknownKeyIsNamedWithLineAndNearestKey) {
  auto map = parse("seed: 1\n\nbatchs: 3\n");
  map.find("seed");
  map.find("batch");
  EXPECT_EQ(message_of([&] { map.finish(); }),
            "run.yaml:3: unknown key 'batchs'. Did you mean 'batch'?");
}

TEST(Yaml, AnUnknownKeyFarFromAllListsTheValidOnes) {
  auto map = parse("data: {completely_different: 1}\n");
  auto data = map.map("data");
  data.find("store");
  data.find("labels");
  EXPECT_EQ(message_of([&] { data.finish(); }),
            "run.yaml:1: unknown key 'completely_different' in 'data'. Valid keys: store, labels");
}

TEST(Yaml, AWrongTypeIsNamedWithItsPath) {
  auto map = parse("patch:\n  mpp: fine\n  size: [1, x]\n  flip: yes\n");
  auto patch = map.map("patch");
  EXPECT_EQ(message_of([&] { patch.require("mpp").as_double(0, 9); }),
            "run.yaml:2: patch.mpp: expected a number, found 'fine'");
  EXPECT_EQ(message_of([&] { patch.require("size").as_list()[1].as_int(0, 9); }),
            "run.yaml:3: patch.size[1]: expected a whole number, found 'x'");
  EXPECT_EQ(message_of([&] { patch.require("flip").as_bool(); }),
            "run.yaml:4: patch.flip: expected true or false, found 'yes'");
  EXPECT_EQ(message_of([&] { patch.require("size").as_int(0, 9); }),
            "run.yaml:3: patch.size: expected a whole number, found a list of 2");
  EXPECT_EQ(message_of([&] { map.require("patch").as_string(); }),
            "run.yaml:2: patch: expected text, found a mapping");
}

TEST(Yaml, AnImpossibleValueSaysWhatIsAccepted) {
  auto map = parse(
      "batch: 0\nlr: .nan\nbig: 99999999999999999999\nhalf: 1.5\ncodec: zst\npair: [1, 2, 3]\n");
  EXPECT_EQ(message_of([&] { map.require("batch").as_int(1, 64); }),
            "run.yaml:1: batch: expected 1 to 64, found 0");
  EXPECT_EQ(message_of([&] { map.require("lr").as_double(0, 1); }),
            "run.yaml:2: lr: expected a number, found '.nan'");
  EXPECT_EQ(message_of([&] { map.require("big").as_int(1, 64); }),
            "run.yaml:3: big: expected a whole number, found '99999999999999999999'");
  EXPECT_EQ(message_of([&] { map.require("half").as_int(1, 64); }),
            "run.yaml:4: half: expected a whole number, found '1.5'");
  EXPECT_EQ(message_of([&] {
              map.require("codec").as_choice({"gzip", "zstd"});
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

TEST(Yaml, AliasesAreRefusedBeforeAnyoneFollowsThem) {
  for (const std::string text :
       {"a: &x\n  b: *x\n", "a: &x 1\nb: *x\n", "a: &x [1]\nb: [*x, *x]\n", "- &x [1]\n- *x\n"}) {
    EXPECT_EQ(
        message_of([&] { parse(text); }),
        "run.yaml:2: an alias ('*') stands for another part of the file; write that part again "
        "in its place");
  }
  EXPECT_EQ(message_of([] { parse("a: " + std::string(101, '[') + std::string(101, ']') + "\n"); }),
            "run.yaml:1: values nest over 100 deep");
  EXPECT_EQ(parse("a: &x 1\n").require("a").as_int(0, 9), 1);
}

TEST(Yaml, AFileThatIsNotThereIsNotFound) {
  EXPECT_EQ(error_of(ErrorCode::not_found, [] { YamlMap::load("/nowhere/run.yaml"); }),
            "/nowhere/run.yaml: there is no such file");
}

TEST(Yaml, KeysComeInTheOrderOfTheFile) {
  EXPECT_EQ(parse("z: 1\na: 2\n").keys(), (std::vector<std::string>{"z", "a"}));
}

}  // namespace
}  // namespace headrace
