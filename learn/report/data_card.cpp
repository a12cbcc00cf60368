#include <fmt/format.h>

#include <algorithm>

#include "headrace/core/text.hpp"
#include "learn/report/card_sections.hpp"
#include "learn/report/eval_json.hpp"
#include "learn/report/html.hpp"

namespace headrace::report {
namespace {

constexpr std::size_t kNamesShown = 30;

std::string count(const Json& of, const char* key) {
  const Json value = of.value(key, Json());
  return value.is_number() ? grouped(value.get<std::uint64_t>()) : "–";
}

/// "scanner-1 (12), scanner-2 (12)" of a mapping to counts.
std::string counted_names(const Json& groups) {
  std::string out;
  std::size_t shown = 0;
  for (const auto& [name, images] : groups.items()) {
    if (shown++ == kNamesShown) {
      out += fmt::format(", and {} more", groups.size() - kNamesShown);
      break;
    }
    out += fmt::format("{}{} ({})", out.empty() ? "" : ", ", escaped_markup(name),
                       grouped(images.get<std::uint64_t>()));
  }
  return out.empty() ? "none stated" : out;
}

std::string stated(const Json& names) {
  return names.empty() ? "none stated" : joined_names(names);
}

/// What the run does with a split.
std::string use_of(const RunData& data, const std::string& split) {
  const Json& config = data.config.at("data");
  const bool trains = config.value("train", "") == split, judges = config.value("val", "") == split;
  if (trains && judges) return "trained and judged on";
  return trains ? "trained on" : judges ? "judged on" : "not used";
}

std::string split_table(const RunData& data) {
  Table table{{"Split", "", "Cases", "Images", "With labels", "Known negative", "Without truth"},
              {},
              {false, false, true, true, true, true, true}};
  for (const auto& [name, split] : data.card.at("splits").items()) {
    table.rows.push_back({escaped_markup(name), use_of(data, name), count(split, "cases"),
                          count(split, "images"), count(split, "labelled"),
                          count(split, "negatives"), count(split, "without")});
  }
  return table.html();
}

std::string group_table(const RunData& data) {
  Table table{{"Split", "Cohorts (images)", "Scanners"}, {}, {}};
  if (data.run.contains("phases")) table.head.push_back("Phases");
  for (const auto& [name, split] : data.card.at("splits").items()) {
    table.rows.push_back({escaped_markup(name), counted_names(split.at("cohorts")),
                          counted_names(split.at("scanners"))});
    if (data.run.contains("phases"))
      table.rows.back().push_back(counted_names(split.value("phases", Json::object())));
  }
  return table.html("wrapped");
}

/// Counts by class and split; of classes for which `shown` holds.
template <typename Shown>
std::string supervision_table(const RunData& data, const char* key, const Shown& shown) {
  const auto names = names_of(data.card.at("label_names"));
  Table table{{"Class"}, {}, {false}};
  const Json& splits = data.card.at("splits");
  for (const auto& [name, split] : splits.items()) {
    table.head.push_back(escaped_markup(name));
    table.numeric.push_back(true);
  }
  for (std::size_t v = 0; v < names.size(); ++v) {
    if (!shown(names[v])) continue;
    std::vector<std::string> row{class_label(names[v], v)};
    for (const auto& [name, split] : splits.items())
      row.push_back(grouped(split.at(key).at(names[v]).template get<std::uint64_t>()));
    table.rows.push_back(std::move(row));
  }
  return table.html();
}

/// Only classes with lesions: of others the store has not counted any, which is not that there are none.
std::string lesion_table(const RunData& data) {
  const Json& splits = data.card.at("splits");
  const auto counted = [&](const std::string& name) {
    return std::any_of(splits.begin(), splits.end(),
                       [&](const Json& split) { return split.at("lesions").at(name) != 0; });
  };
  const auto names = names_of(data.card.at("label_names"));
  if (std::none_of(names.begin(), names.end(), counted)) return "";
  return "<h3>Annotated lesions by class</h3>" + supervision_table(data, "lesions", counted);
}

}  // namespace

std::string data_card(const RunData& data) {
  Table facts{{"", ""}, {}, {}};
  const auto add = [&](const char* name, const std::string& value) {
    facts.rows.push_back({name, value});
  };
  const auto code = [](const Json& value) {
    return "<code>" + escaped_markup(value.get<std::string>()) + "</code>";
  };
  add("dataset hash", code(data.run.at("dataset_hash")));
  const Json version = data.config.at("data").value("version", Json());
  add("version", version.is_string() && !version.get<std::string>().empty()
                     ? code(version) + " (named by the config)"
                     : "the current one when the run began; the hash names it");
  add("store", code(data.config.at("data").value("store", Json(""))));
  add("images in the store", grouped(data.run.at("images").get<std::uint64_t>()));
  add("classes", joined_names(data.run.at("classes")));
  if (data.run.contains("cohorts")) add("cohorts", stated(data.run.at("cohorts")));
  if (data.run.contains("scanners")) add("scanners", stated(data.run.at("scanners")));
  if (data.run.contains("phases")) add("phases", stated(data.run.at("phases")));
  std::string body = facts.html("identity");
  if (data.card.is_null()) {
    body += "<p>This run has no data_card.json, so counts by split are not known here.</p>";
  } else {
    body += "<h3>Splits</h3>" + split_table(data) + group_table(data) +
            fmt::format(
                "<h3>Supervised {} by class</h3><p>Of level 0, with labels “{}”, as the "
                "sampler’s index counts them.</p>{}",
                data.run.contains("phases") ? "voxels" : "pixels", text_of(data.card.at("labels")),
                supervision_table(data, "pixels", [](const std::string&) { return true; }));
    if (data.card.value("kind", "") == "volume") body += lesion_table(data);
  }
  return section("Data card", body);
}

}  // namespace headrace::report
