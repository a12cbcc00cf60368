#include "learn/report/tumour_section.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "headrace/core/text.hpp"
#include "learn/report/eval_json.hpp"
#include "learn/report/html.hpp"
#include "learn/report/svg_chart.hpp"

namespace headrace::report {
namespace {

std::string count(const Json& of, const char* key) {
  return grouped(of.at(key).get<std::uint64_t>());
}

/// The unit that is counted, and tumour against the rest in it.
Table detection_table(const Json& overall, const std::string& region) {
  Table table{{"Of", "With " + region, "Without", "AUC", "Sensitivity", "Dice", "IoU"},
              {},
              {false, true, true, true, true, true, true}};
  const Json& pixels = overall.at("tumour");
  const auto all = pixels.at("pixels").get<std::uint64_t>(),
             positive = pixels.at("positives").get<std::uint64_t>();
  table.rows.push_back({"pixels", grouped(positive), grouped(all - positive),
                        with_interval(overall, {"tumour", "auc"}), "",
                        with_interval(overall, {"tumour", "dice"}),
                        with_interval(overall, {"tumour", "iou"})});
  for (const char* kind : {"slides", "cases"}) {
    const Json& of = overall.at("detection").at(kind);
    table.rows.push_back({kind, count(of, "positives"), count(of, "negatives"),
                          with_interval(overall, {"detection", kind, "auc"}),
                          with_interval(overall, {"detection", kind, "sensitivity"}), "", ""});
  }
  return table;
}

Table structure_table(const RunData& data, const Json& overall) {
  Table table{{"Structures of", "Matched", "Missed", "Invented", "F1", "SQ", "PQ"},
              {},
              {false, true, true, true, true, true, true}};
  const auto add = [&](const std::string& name, const char* first, const std::string& second) {
    const Json& of = overall.at(first).at(second);
    table.rows.push_back({name, count(of, "matched"), count(of, "missed"), count(of, "invented"),
                          with_interval(overall, {first, second, "f1"}), figure(of.at("sq")),
                          with_interval(overall, {first, second, "pq"})});
  };
  const auto classes = names_of(data.eval.at("classes"));
  for (std::size_t c = 1; c < classes.size(); ++c)
    add(class_label(classes[c], c), "objects", classes[c]);
  add(lowered(region_word(data.eval)), "tumour", "objects");
  return table;
}

/// Sensitivity over the false positive rate, for every threshold of the score: equal scores fall
/// together. No points where one of the two kinds is missing.
Series roc_curve(const Json& of, const char* name, const char* colour) {
  std::vector<std::pair<double, bool>> scores;
  std::size_t positives = 0;
  for (const Json& one : of) {
    const Json cancer = one.value("cancer", Json()), share = one.value("tumour_share", Json());
    if (!cancer.is_boolean() || !share.is_number()) continue;
    scores.emplace_back(share.get<double>(), cancer.get<bool>());
    positives += scores.back().second ? 1 : 0;
  }
  Series series{name, colour, {}, false, false};
  const std::size_t negatives = scores.size() - positives;
  if (positives == 0 || negatives == 0) return series;
  std::sort(scores.rbegin(), scores.rend());
  series.points.push_back({0, 0});
  std::size_t hits = 0, alarms = 0;
  for (std::size_t i = 0; i < scores.size(); ++i) {
    ++(scores[i].second ? hits : alarms);
    if (i + 1 < scores.size() && scores[i + 1].first == scores[i].first) continue;
    series.points.push_back({static_cast<double>(alarms) / static_cast<double>(negatives),
                             static_cast<double>(hits) / static_cast<double>(positives)});
  }
  return series;
}

/// Of slides and cases; empty where there are none with and without tumour.
std::string roc_chart(const RunData& data) {
  const Chart chart{"ROC of slides and cases",
                    "false positive rate",
                    {roc_curve(data.eval.at("images"), "slides", "#1f6f9f"),
                     roc_curve(data.eval.value("cases", Json::object()), "cases", "#16966e")},
                    std::array<double, 2>{0, 1}};
  const std::string drawn = svg(chart);
  return drawn.empty() ? "" : "<div class=\"two\">" + drawn + "<div></div></div>";
}

}  // namespace

std::string tumour_section(const RunData& data) {
  const Json& overall = data.eval.at("overall");
  const std::string word = region_word(data.eval), region = lowered(word);
  return fmt::format(
      "<section><h2>{0} against the rest</h2><p>{0} is {2}, taken together; pixels count "
      "whose label says whether they are {1}, also where it does not say of which class. A "
      "slide’s or case’s score is the predicted {1}’s part of its predicted tissue; the "
      "sensitivity is at a specificity of at least {3:g}.{4}</p>{5}{6}<h3>Structures</h3><p>A structure "
      "is a connected part of a class. It is matched by a predicted one from an intersection over "
      "union above 1/2; what is then left is missed or invented. SQ is the mean intersection over "
      "union of the matched, panoptic quality PQ = SQ · F1.</p>{7}</section>\n",
      word, region, joined_names(overall.at("tumour").at("classes")),
      overall.at("detection").at("specificity").get<double>(), interval_text(overall),
      detection_table(overall, region).html(), roc_chart(data),
      structure_table(data, overall).html());
}

}  // namespace headrace::report
