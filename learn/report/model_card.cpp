#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "headrace/core/text.hpp"
#include "learn/report/card_sections.hpp"
#include "learn/report/eval_json.hpp"
#include "learn/report/html.hpp"
#include "learn/report/main_figures.hpp"

namespace headrace::report {
namespace {

constexpr std::size_t kFewCases = 30;  ///< below it, a figure says little about other patients

/// A value of the config as text: "[32, 32, 32]", "unet2d".
std::string plain(const Json& value) {
  return escaped_markup(value.is_string() ? value.get<std::string>() : value.dump());
}

std::string input_text(const RunData& data) {
  const Json& patch = data.config.at("patch");
  std::string text = "patches of " + plain(patch.at("size"));
  for (const auto& [key, unit] : {std::pair{"mpp", "µm a pixel"}, std::pair{"spacing_mm", "mm"}}) {
    if (!patch.contains(key)) continue;
    text += patch.at(key).is_null() ? ", pixels of level 0"
                                    : fmt::format(" at {} {}", plain(patch.at(key)), unit);
  }
  if (patch.contains("context")) text += ", fields of view " + plain(patch.at("context"));
  std::vector<std::string> channels;
  for (const Json& channel : data.preprocessing.value("channels", Json::array())) {
    const std::string unit = channel.value("unit", "");
    channels.push_back(escaped_markup(channel.at("name").get<std::string>()) +
                       (unit.empty() ? "" : " in " + escaped_markup(unit)));
  }
  if (channels.empty())
    channels.push_back(data.run.contains("phases") ? "one channel, Hounsfield units" : "RGB");
  return fmt::format("{}; {}", text, fmt::join(channels, ", "));
}

/// The transforms in order, those that run at inference too named first by their key.
std::string transforms_text(const RunData& data) {
  std::string out;
  for (const Json& entry : data.config.value("transforms", Json::array())) {
    if (!entry.is_object() || entry.empty()) continue;
    out += fmt::format("{}<span title=\"{}\">{}</span>", out.empty() ? "" : " → ",
                       escaped_markup(entry.begin().value().dump()),
                       escaped_markup(entry.begin().key()));
  }
  return out.empty() ? "none" : out;
}

std::string network_text(const RunData& data) {
  const Json& model = data.config.at("model");
  if (model.contains("module")) return plain(model.at("module"));
  return plain(model.value("name", Json("")));
}

std::string loss_text(const RunData& data) {
  const Json& train = data.config.at("train");
  const Json loss = train.value("loss", Json());
  if (!loss.is_object() || !loss.contains("pixel")) return plain(loss);
  std::string text = fmt::format("{} + {} · (1 − {})", plain(loss.at("pixel")),
                                 plain(train.value("dice_weight", Json(1.0))),
                                 plain(loss.value("region", Json(""))));
  const Json weights = train.value("class_weights", Json::array());
  if (!weights.empty()) text += ", class weights " + plain(weights);
  return text;
}

void add_worst_groups(const RunData& data, std::vector<std::string>& out) {
  const MainFigure of = main_figures(data).front();
  const std::string all = figure(value_at(data.eval.at("overall"), of.path));
  for (const GroupKind& kind : group_kinds(data.eval)) {
    const auto groups = worst_first(data.eval.at(kind.key), of.path);
    if (!has_worst(groups, of.path)) continue;
    const NamedGroup& worst = groups.front();
    const Json value = value_at(*worst.figures, of.path);
    out.push_back(fmt::format("{} {} is the worst: {} {}, {} over all; {} cases.", kind.word,
                              escaped_markup(worst.name), of.name, figure(value), all,
                              count_cases(data.eval, &kind, worst.name)));
  }
  for (const GroupKind& kind : group_kinds(data.eval)) {
    for (const auto& [name, group] : data.eval.at(kind.key).items()) {
      if (!value_at(group, of.path).is_number())
        out.push_back(
            fmt::format("{} {}: {} is undefined there.", kind.word, escaped_markup(name), of.name));
    }
  }
}

void add_classes(const RunData& data, std::vector<std::string>& out) {
  const Json& overall = data.eval.at("overall");
  const auto names = names_of(data.eval.at("classes"));
  std::vector<std::string> without, never;
  std::string worst;
  double lowest = 2;
  for (std::size_t c = 1; c < names.size(); ++c) {
    if (row_sum(overall.at("matrix")[c]) == 0) without.push_back(escaped_markup(names[c]));
    const Json dice = overall.at("dice").at(names[c]);
    if (!dice.is_number() || dice.get<double>() >= lowest) continue;
    lowest = dice.get<double>();
    worst = names[c];
  }
  if (names.size() > 2 && !worst.empty()) {
    out.push_back(
        fmt::format("Class {} is the worst: Dice {:.3f}.", escaped_markup(worst), lowest));
  }
  if (!without.empty())
    out.push_back(fmt::format("Without any truth on the judged split, so not judged: {}.",
                              fmt::join(without, ", ")));
  const std::string split = data.config.at("data").value("train", "");
  if (!data.card.is_null() && data.card.at("splits").contains(split)) {
    for (std::size_t c = 1; c < names.size(); ++c) {
      if (data.card.at("splits").at(split).at("pixels").value(names[c], Json(1)) == 0)
        never.push_back(escaped_markup(names[c]));
    }
  }
  if (!never.empty())
    out.push_back(fmt::format("Never shown in training: {}.", fmt::join(never, ", ")));
}

void add_mismatch(const RunData& data, std::vector<std::string>& out) {
  for (const auto& [key, text] :
       {std::pair{"missing_classes", "Classes that the judged store does not have"},
        std::pair{"unknown_classes", "Classes of the judged store that the network does not know"},
        std::pair{"unknown_scanners", "Scanners that were not trained on"}}) {
    const Json names = data.eval.value(key, Json::array());
    if (!names.empty()) out.push_back(fmt::format("{}: {}.", text, joined_names(names)));
  }
}

void add_trust(const RunData& data, std::vector<std::string>& out) {
  const std::size_t cases = count_cases(data.eval, nullptr, "");
  if (cases < kFewCases)
    out.push_back(fmt::format("Judged on {} cases only: figures of so few tell little.", cases));
  const Json& overall = data.eval.at("overall");
  if (overall.contains("no_interval")) {
    out.push_back(text_of(overall.at("no_interval")) + "; they are made of ten cases or more.");
  } else if (!overall.contains("interval_95")) {
    out.push_back("No intervals were computed; eval.bootstrap in the config asks for them.");
  }
  const Json baseline =
      data.eval.value("baseline", Json::object()).value("overall", Json::object());
  for (const MainFigure& of : main_figures(data)) {
    const Json ours = value_at(data.eval.at("overall"), of.path),
               theirs = value_at(baseline, of.path);
    if (ours.is_number() && theirs.is_number() && ours.get<double>() <= theirs.get<double>())
      out.push_back(fmt::format("{} is not above that of a prediction that looks at no pixel ({}).",
                                escaped_markup(of.name), figure(theirs)));
  }
  const Json& config = data.config.at("data");
  if (config.value("train", "") == config.value("val", ""))
    out.push_back("Judged on the split that it was trained on: nothing is known of other images.");
  if (data.phantom()) out.push_back("The images are synthetic.");
}

std::string limits(const RunData& data) {
  if (data.eval.is_null()) return "<p>It has not been evaluated.</p>";
  std::vector<std::string> out;
  add_worst_groups(data, out);
  add_classes(data, out);
  add_mismatch(data, out);
  add_trust(data, out);
  constexpr std::size_t kMost = 20;
  std::string list;
  for (std::size_t i = 0; i < out.size() && i < kMost; ++i) list += "<li>" + out[i] + "</li>";
  if (out.size() > kMost) list += fmt::format("<li>and {} more</li>", out.size() - kMost);
  return "<ul>" + list + "</ul>";
}

}  // namespace

std::string model_card(const RunData& data) {
  Table table{{"", ""}, {}, {}};
  table.rows = {{"network", network_text(data)},
                {"parameters", grouped(data.run.at("parameters").get<std::uint64_t>())},
                {"input", input_text(data)},
                {"output", "probabilities of " + joined_names(data.run.at("classes"))},
                {"transforms", transforms_text(data)},
                {"loss", loss_text(data)}};
  const Json widths = data.config.at("model").value("widths", Json());
  if (widths.is_array() && !data.config.at("model").contains("module"))
    table.rows.front()[1] += ", widths " + plain(widths);
  const Json init = data.run.value("init", Json());
  if (init.is_object())
    table.rows.push_back(
        {"began with",
         "<code>" + plain(without_paths(init.value("file", Json("other weights")))) + "</code>"});
  return section("Model card",
                 table.html("identity") +
                     "<p><br><b>Intended use:</b> research on images like those of the data card. "
                     "It is not a medical device, not validated on patients, and gives no "
                     "diagnosis.</p><h3>Limits that the figures show</h3>" +
                     limits(data));
}

}  // namespace headrace::report
