#include <algorithm>
#include <cctype>

#include "headrace/core/error.hpp"
#include "headrace/core/option_name.hpp"
#include "headrace/core/text.hpp"
#include "headrace/ingest/slide/label_source.hpp"

namespace headrace::ingest {
namespace {

constexpr std::size_t kValues = 65536;

std::string plain_name(const std::string& name) {
  const std::string plain = folded_name(name);
  for (const std::string prefix : {"gleasonpattern", "gleason", "grade", "g"}) {
    if (plain.size() == prefix.size() + 1 && plain.starts_with(prefix) &&
        std::isdigit(static_cast<unsigned char>(plain.back())) != 0) {
      return "pattern" + plain.substr(prefix.size());
    }
  }
  return plain;
}

/// British "tumour" as American "tumor".
std::string spelt_alike(const std::string& name) {
  std::string plain = plain_name(name);
  if (const auto at = plain.find("tumour"); at != std::string::npos) plain.erase(at + 4, 1);
  return plain;
}

}  // namespace

const std::vector<std::string>& gleason_classes() {
  static const std::vector<std::string> kClasses{"background", "benign",   "hgpin",
                                                 "pattern3",   "pattern4", "pattern5"};
  return kClasses;
}

const std::vector<std::string>& panda_class_sets() {
  static const std::vector<std::string> kSets{"benign_tissue=background+benign+hgpin",
                                              "cancer=pattern3+pattern4+pattern5"};
  return kSets;
}

std::vector<int> coding_table(MaskCoding coding, const std::vector<std::string>& names) {
  std::vector<int> table(kValues, -1);
  // Note: [PANDA's masks] What values mean is the challenge's own description (Kaggle, Prostate
  // cANcer graDe Assessment, page Data). Radboud: 0 background (non tissue) or unknown, 1 stroma, 2
  // healthy (benign) epithelium, 3 to 5 cancerous epithelium of that pattern. Karolinska: 0
  // background (non tissue) or unknown, 1 benign tissue (stroma and epithelium combined), 2
  // cancerous tissue (stroma and epithelium combined).
  switch (coding) {
    case MaskCoding::classes:
      for (std::size_t v = 0; v < std::min<std::size_t>(names.size(), 255); ++v)
        table[v] = static_cast<int>(v);
      table[kIgnoreLabel] = kIgnoreLabel;
      break;
    case MaskCoding::panda_radboud:
      table[0] = table[1] = 0;  // stroma is background
      table[2] = class_value("benign", names);
      for (int pattern = 3; pattern <= 5; ++pattern) {
        table[static_cast<std::size_t>(pattern)] =
            class_value(fmt::format("pattern{}", pattern), names);
      }
      break;
    case MaskCoding::panda_karolinska:
      table[0] = 0;
      table[1] = class_value("benign_tissue", names);
      table[2] = class_value("cancer", names);
      break;
    case MaskCoding::instances:
      std::fill(table.begin(), table.end(), 1);
      table[0] = 0;
      break;
  }
  return table;
}

std::vector<int> stated_table(const GivenClasses& given) {
  std::vector<int> table(kValues, -1);
  for (const auto& [value, label] : given.values) {
    if (value >= kValues) {
      fail(ErrorCode::usage, "{}: value {} is more than a mask of a slide can have ({})",
           Option{"classes"}, value, kValues - 1);
    }
    table[value] = label;
  }
  return table;
}

std::optional<std::uint8_t> find_class(const std::string& name,
                                       const std::vector<std::string>& classes) {
  const auto exact = std::find(classes.begin(), classes.end(), name);
  if (exact != classes.end()) return static_cast<std::uint8_t>(exact - classes.begin());
  for (std::size_t i = 0; i < classes.size(); ++i) {
    if (plain_name(classes[i]) == plain_name(name)) return static_cast<std::uint8_t>(i);
  }
  for (std::size_t i = 0; i < classes.size(); ++i) {
    if (spelt_alike(classes[i]) == spelt_alike(name)) return static_cast<std::uint8_t>(i);
  }
  return std::nullopt;
}

std::uint8_t class_value(const std::string& name, const std::vector<std::string>& classes) {
  if (const auto value = find_class(name, classes)) return *value;
  fail(ErrorCode::usage,
       "class '{}' is not known; the classes of this store are {}. Rename it or give {}", name,
       fmt::join(classes, ", "), Option{"classes"});
}

}  // namespace headrace::ingest
