// The run config's keys in docs/runbook.md are those of the program, with the same defaults.
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "learn/config/run_config.hpp"
#include "tests/core/runbook.hpp"

namespace headrace::config {
namespace {

struct Row {
  std::string default_text, words;
};
using Rows = std::map<std::string, Row>;

/// At commas outside of brackets.
std::vector<std::string> split(const std::string& cell) {
  std::vector<std::string> parts(1);
  int depth = 0;
  for (const char c : cell) {
    depth += c == '[' ? 1 : c == ']' ? -1 : 0;
    if (c == ',' && depth == 0) {
      parts.emplace_back();
    } else if (c != ' ' || !parts.back().empty()) {
      parts.back() += c;
    }
  }
  return parts;
}

/// By key. A row may be of several, of which `.b` after `a.x` is `a.b`; they share a lone default.
Rows rows_under(const std::string& heading) {
  Rows rows;
  const auto tables = fixtures::runbook_tables(heading);
  EXPECT_FALSE(tables.empty()) << heading;
  for (const auto& cells : tables.at(0)) {
    auto keys = fixtures::quoted(cells.at(0));
    for (std::size_t i = 1; i < keys.size(); ++i) {
      if (keys[i][0] == '.') keys[i].insert(0, keys[i - 1], 0, keys[i - 1].rfind('.'));
    }
    const auto defaults = split(cells.at(1));
    for (std::size_t i = 0; i < keys.size(); ++i) {
      const bool own = keys.size() > 1 && defaults.size() == keys.size();
      rows[keys[i]] = {own ? defaults[i] : cells.at(1), cells.at(1) + " " + cells.at(2)};
    }
  }
  return rows;
}

TEST(RunKeys, TheRunbookHasEachWithItsDefaultAndChoices) {
  const Rows common = rows_under("## The run config"), volumes = rows_under("### Runs on volumes");
  std::set<std::string> known;
  for (const bool of_volumes : {false, true}) {
    const Rows& first = of_volumes ? volumes : common;
    const Rows& second = of_volumes ? common : volumes;
    for (const KeyFacts& key : RunConfig::keys(of_volumes)) {
      if (key.key == "transforms") continue;  // has tables of its own
      known.insert(key.key);
      const auto own = first.find(key.key), other = second.find(key.key);
      ASSERT_TRUE(own != first.end() || other != second.end()) << key.key << " has no row";
      const Row& row = own != first.end() ? own->second : other->second;
      EXPECT_EQ(row.default_text, key.default_text) << key.key;
      EXPECT_FALSE(key.text.empty()) << key.key;
      for (const std::string& choice : key.choices)
        EXPECT_NE(row.words.find(choice), std::string::npos) << key.key << ": " << choice;
    }
  }
  for (const Rows* rows : {&common, &volumes}) {
    for (const auto& [key, row] : *rows) EXPECT_TRUE(known.contains(key)) << "no key " << key;
  }
}

TEST(RunKeys, ThoseOfSpeedAndPlaceDecideNothing) {
  for (const char* key : {"loader.threads", "loader.prefetch", "loader.device_memory_mib",
                          "loader.gpudirect", "data.store", "data.expect_hash", "data.version"})
    EXPECT_TRUE(RunConfig::decides_nothing(key)) << key;
  for (const char* key :
       {"loader.device", "loader.decode", "train.threads", "data.val", "task", ""})
    EXPECT_FALSE(RunConfig::decides_nothing(key)) << key;
}

}  // namespace
}  // namespace headrace::config
