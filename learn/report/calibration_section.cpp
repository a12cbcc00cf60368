#include "learn/report/calibration_section.hpp"

#include <fmt/format.h>

#include "learn/report/eval_json.hpp"
#include "learn/report/html.hpp"
#include "learn/report/svg_chart.hpp"

namespace headrace::report {
namespace {

struct Predictions {
  const char *name, *colour;
  const Json* calibration;
};

Series reliability(const Predictions& of) {
  Series series{of.name, of.colour, {}, true, false};
  for (const Json& bin : of.calibration->at("bins")) {
    if (!bin.is_null()) series.points.push_back({bin[0].get<double>(), bin[1].get<double>()});
  }
  return series;
}

/// How many predictions each range has.
std::string histogram(const Predictions& of) {
  std::vector<std::uint64_t> counts;
  for (const Json& bin : of.calibration->at("bins"))
    counts.push_back(bin.is_null() ? 0 : bin[2].get<std::uint64_t>());
  return column_chart(fmt::format("Predictions by probability: {}", of.name), "probability", counts,
                      of.colour);
}

}  // namespace

std::string calibration_section(const RunData& data) {
  const Json& overall = data.eval.at("overall");
  if (!overall.contains("calibration")) return "";
  std::vector<Predictions> all{{"predicted class", "#1f6f9f", &overall.at("calibration")}};
  if (overall.contains("lesion") && overall.at("lesion").contains("voxel"))
    all.push_back({"lesion", "#d6384a", &overall.at("lesion").at("voxel")});
  Chart chart{"How often it was true",
              "probability that was given",
              {{"as it should be", "#9bb8cb", {{0, 0}, {1, 1}}, false, false}},
              std::array<double, 2>{0, 1}};
  Table table{
      {"Probability of", "ECE", "Brier score", "Predictions"}, {}, {false, true, true, true}};
  std::string counts;
  for (const Predictions& of : all) {
    counts += histogram(of);
    chart.series.push_back(reliability(of));
    table.rows.push_back({of.name, figure(of.calibration->at("ece"), 4),
                          figure(of.calibration->at("brier"), 4),
                          grouped(of.calibration->at("count").get<std::uint64_t>())});
  }
  return fmt::format(
      "<section><h2>Calibration</h2><p>{} in 15 equal ranges of their probability: how "
      "often what was predicted was true. The expected calibration error (ECE) is the mean "
      "distance from "
      "the diagonal, by predictions; the Brier score the mean squared error (0 to 1 of a lesion, 0 "
      "to 2 of classes).</p><div class=\"two\"><div>{}</div><div>{}</div></div></section>\n",
      data.volumes() ? "Predictions of annotated voxels in the body," : "Predictions of pixels,",
      svg(chart), table.html() + counts);
}

}  // namespace headrace::report
