// The transforms' options in docs/runbook.md are those of the operations, with the same defaults.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "headrace/transform/slide/slide_spec.hpp"
#include "headrace/transform/spec_reader.hpp"
#include "headrace/transform/volume/volume_spec.hpp"
#include "tests/core/runbook.hpp"

namespace headrace::transform {
namespace {

/// The default of each option in a cell "`low` -160, `high` 240": what is behind it, or behind the
/// next one that has something there ("`contrast`, `hue` 0").
std::map<std::string, std::string> options_in(const std::string& cell) {
  std::map<std::string, std::string> options;
  const auto names = headrace::fixtures::quoted(cell);
  std::string behind;
  std::size_t end = std::string::npos;
  for (auto name = names.rbegin(); name != names.rend(); ++name) {
    const std::size_t at = cell.rfind('`' + *name + '`', end), from = at + name->size() + 2;
    const std::string own = cell.substr(from, end == std::string::npos ? end : end - from);
    if (own != ", " && own != " or ") behind = own;
    options[*name] = behind;
    end = at;
  }
  return options;
}

void expect_documented(const headrace::fixtures::Table& table,
                       const std::vector<OperationFacts>& operations) {
  std::set<std::string> documented;
  for (const auto& cells : table) {
    const auto names = headrace::fixtures::quoted(cells.at(0));
    if (names.at(0).starts_with("preset:")) continue;
    auto options = options_in(cells.at(1));
    std::set<std::string> known;
    for (const std::string& name : names) {
      documented.insert(name);
      const auto operation = std::find_if(operations.begin(), operations.end(),
                                          [&](const auto& one) { return one.name == name; });
      ASSERT_NE(operation, operations.end()) << name << " is no operation";
      for (const KeyFacts& option : operation->options) {
        if (option.key == "channel") continue;  // said once for all
        known.insert(option.key);
        EXPECT_TRUE(options[option.key].starts_with(" " + option.default_text))
            << name << "." << option.key << ": '" << options[option.key] << "', not "
            << option.default_text;
        for (const std::string& choice : option.choices)
          EXPECT_NE(cells.at(1).find(choice), std::string::npos) << name << ": " << choice;
      }
    }
    for (const auto& [key, text] : options)
      EXPECT_TRUE(known.contains(key)) << names[0] << " has no " << key;
  }
  for (const auto& operation : operations)
    EXPECT_TRUE(documented.contains(operation.name)) << operation.name << " has no row";
}

TEST(OperationKeys, TheRunbookHasEachWithItsDefaultAndChoices) {
  const auto tables = headrace::fixtures::runbook_tables("### `transforms:`");
  ASSERT_EQ(tables.size(), 2u);
  expect_documented(tables[0], OperationsOf<TransformSpec>::facts());
  expect_documented(tables[1], OperationsOf<VolumeTransformSpec>::facts());
}

}  // namespace
}  // namespace headrace::transform
