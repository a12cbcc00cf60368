// The options of the kinds of ingest: what is hashed, what is refused, and their table in
// docs/runbook.md.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "headrace/ingest/inputs/common_options.hpp"
#include "headrace/ingest/labels/label_ingest_options.hpp"
#include "headrace/ingest/phi/phi_rules.hpp"
#include "headrace/ingest/slide/slide_ingest_options.hpp"
#include "headrace/ingest/volume/volume_ingest_options.hpp"
#include "tests/core/error_of.hpp"
#include "tests/core/runbook.hpp"

namespace headrace::ingest {
namespace {

struct All {
  SlideIngestOptions slides;
  VolumeIngestOptions volumes;
  LabelIngestOptions labels;
  device::DeviceChoice device = device::DeviceChoice::cpu;

  /// In the order of the table's columns.
  std::vector<WorkOptions> lists() {
    return {joined(options_of(slides), {device_option(device)}),
            joined(options_of(volumes), {device_option(device)}), options_of(labels)};
  }
};

Json settings(WorkOptions options) { return hashed_json(fields_of(options)); }

TEST(IngestOptions, SettingsOfSlidesAreTheseAndNoOthers) {
  SlideIngestOptions options;
  EXPECT_EQ(settings(options_of(options)), Json::parse(R"({"codec": "auto", "chunk": 0, "shard": 0,
    "clevel": 1, "drop_glass": false})"));
  options.align = 4096;
  EXPECT_EQ(settings(options_of(options)).at("align"), 4096);
}

TEST(IngestOptions, SettingsOfVolumesAreTheseAndNoOthers) {
  VolumeIngestOptions options;
  EXPECT_EQ(settings(options_of(options)), Json::parse(R"({"codec": "blosc-lz4", "chunk": 0,
    "shard": 0, "clevel": -1, "irregular": "refuse", "lesion_classes": []})"));
  options.align = 4096;
  options.rescale = {1, -1024};
  options.lesion_classes = {"cyst"};
  const Json all = settings(options_of(options));
  EXPECT_EQ(all.at("align"), 4096);
  EXPECT_EQ(all.at("rescale"), Json::parse("[1.0, -1024.0]"));
  EXPECT_EQ(all.at("lesion_classes"), Json::parse(R"(["cyst"])"));
  EXPECT_EQ(all.size(), 8u);
}

// A setting without a rule would make `verify` refuse every store of volumes.
TEST(IngestOptions, EachSettingOfVolumesMayStandInAStore) {
  VolumeIngestOptions options;
  for (const WorkOption& option : options_of(options)) {
    if (option.hash == Hashed::never) continue;
    std::vector<std::string> path{"attributes", "headrace", "ingest", option.key};
    if (std::holds_alternative<std::vector<double>*>(option.variable) ||
        std::holds_alternative<std::vector<std::string>*>(option.variable))
      path.push_back("*");
    EXPECT_TRUE(phi_kind(path).has_value()) << option.key;
  }
}

TEST(IngestOptions, NumbersOutsideOfTheirLimitsAreRefusedByName) {
  SlideIngestOptions slides;
  slides.clevel = 10;
  EXPECT_NE(error_of(ErrorCode::usage, [&] { check_limits(options_of(slides)); })
                .find("clevel 10: must be 0 to 9"),
            std::string::npos);
  VolumeIngestOptions volumes;
  volumes.clevel = 10;
  EXPECT_NE(error_of(ErrorCode::usage, [&] { check_limits(options_of(volumes)); })
                .find("clevel 10: must be 0 to 9, or -1 for the default"),
            std::string::npos);
  volumes.codec = VolumeCodec::zstd;
  check_limits(options_of(volumes));
  volumes.val_fraction = 1.5;
  EXPECT_NE(error_of(ErrorCode::usage, [&] { check_limits(options_of(volumes)); })
                .find("val_fraction 1.5: must be 0 to 1"),
            std::string::npos);
}

std::string on_command_line(std::string key) {
  std::replace(key.begin(), key.end(), '_', '-');
  return "--" + key;
}

std::string default_of(const KeyFacts& key) {
  const std::string& text = key.default_text;
  return text.empty() || text == "[]" || text == "null" ? "none" : text;
}

TEST(IngestOptions, TheRunbookHasEachWithItsDefaultAndWhatItTakes) {
  const auto tables = fixtures::runbook_tables("### Options of `ingest`");
  ASSERT_EQ(tables.size(), 1u);
  std::map<std::string, std::vector<std::string>> rows;
  for (const auto& cells : tables[0]) {
    ASSERT_EQ(cells.size(), 5u) << cells.at(0);
    rows[fixtures::quoted(cells[0]).at(0)] = cells;
  }
  std::map<std::string, std::vector<std::string>> defaults;  // by column
  All all;
  const auto lists = all.lists();
  for (std::size_t column = 0; column < lists.size(); ++column) {
    const auto keys = list_keys(fields_of(lists[column]));
    for (std::size_t i = 0; i < keys.size(); ++i) {
      const WorkOption& option = lists[column][i];
      if (option.argument) continue;
      const std::string name = on_command_line(option.key);
      ASSERT_TRUE(rows.contains(name)) << name << " has no row";
      const std::string& words = rows.at(name)[4];
      auto& cells = defaults.try_emplace(name, lists.size(), "-").first->second;
      cells[column] = default_of(keys[i]);
      for (const std::string& choice : keys[i].choices)
        EXPECT_NE(words.find(choice), std::string::npos) << name << ": " << choice;
      if (option.limits) {
        EXPECT_NE(words.find(option.limits->said), std::string::npos) << name;
      }
      if (option.hash != Hashed::never) {
        EXPECT_NE(words.find("hashed"), std::string::npos) << name;
      }
    }
  }
  for (const auto& [name, cells] : rows) {
    ASSERT_TRUE(defaults.contains(name)) << "no option " << name;
    EXPECT_EQ(std::vector(cells.begin() + 1, cells.begin() + 4), defaults.at(name)) << name;
  }
}

}  // namespace
}  // namespace headrace::ingest
