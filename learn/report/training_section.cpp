#include "learn/report/training_section.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "headrace/core/text.hpp"
#include "headrace/pixels/palette.hpp"
#include "learn/report/eval_json.hpp"
#include "learn/report/html.hpp"
#include "learn/report/main_figures.hpp"
#include "learn/report/style_sheet.hpp"
#include "learn/report/svg_chart.hpp"

namespace headrace::report {
namespace {

/// What the lines of training have under a key.
Series of_training(const RunData& data, const char* key, const char* name, const char* colour,
                   bool last_value = true) {
  Series series{name, colour, {}, false, last_value};
  for (const Json& line : data.metrics) {
    const Json value = line.value(key, Json());
    if (value.is_number() && !line.contains("validation"))
      series.points.push_back({line.at("step").get<double>(), value.get<double>()});
  }
  return series;
}

Series of_validation(const RunData& data, const JsonPath& path, const std::string& name,
                     const std::string& colour) {
  Series series{name, colour, {}, true};
  for (const Json& line : data.metrics) {
    if (!line.contains("validation")) continue;
    const Json value = value_at(line.at("validation"), path);
    if (value.is_number())
      series.points.push_back({line.at("step").get<double>(), value.get<double>()});
  }
  return series;
}

Chart validation_chart(const RunData& data) {
  Chart chart{"Validation Dice", "step", {}, std::array<double, 2>{0, 1}, {}};
  const auto names = names_of(data.run.at("classes"));
  for (std::size_t c = 0; c < names.size(); ++c) {
    chart.series.push_back(
        of_validation(data, {"dice", names[c]}, names[c], pixels::css(pixels::class_colour(c))));
  }
  chart.series.push_back(of_validation(data, {"mean_dice"}, "mean", kInk));
  const Series kappa = of_validation(data, {"kappa"}, "kappa", "#1f6f9f"),
               froc = of_validation(data, {"lesion", "froc"}, "FROC", "#d6384a");
  for (const Series* more : {&kappa, &froc}) {
    if (more->points.empty()) continue;
    chart.title += " and " + more->name;
    chart.series.push_back(*more);
  }
  const Json best = value_at(data.summary, {"best", "step"});
  if (best.is_number() && best.get<double>() > 0)
    chart.marks.push_back({"best weights", best.get<double>()});
  return chart;
}

/// The figure by which the best weights are chosen where the config names none.
std::string chosen_by(const RunData& data) {
  const bool by_tumour = data.eval.is_object() && !data.volumes() &&
                         !value_at(data.eval, {"overall", "mean_dice"}).is_number();
  return by_tumour ? lowered(region_word(data.eval)) + " Dice" : "mean Dice";
}

}  // namespace

std::string curves(const RunData& data) {
  const Chart loss{"Training loss",
                   "step",
                   {of_training(data, "cross_entropy", "cross-entropy", "#9bb8cb"),
                    of_training(data, "loss", "loss", "#1f6f9f")},
                   std::nullopt};
  const Chart rate{"Learning rate",
                   "step",
                   {of_training(data, "learning_rate", "learning rate", "#c9a227", false)},
                   std::nullopt};
  const std::string charts = svg(loss) + svg(validation_chart(data)) + svg(rate);
  if (charts.empty()) return "";
  std::string text;
  const Json best = value_at(data.summary, {"best"});
  if (best.is_object() && best.contains("step")) {
    const Json value = best.value("value", best.value("mean_dice", Json()));
    const auto step = best.at("step").get<std::int64_t>();
    const std::string by = escaped_markup(best.value("figure", chosen_by(data)));
    const std::string chosen =
        step == 0 ? fmt::format("In no validation {} was defined, so no weights are the best.", by)
                  : fmt::format(
                        "The best validation was after step {} ({} {}): these weights are "
                        "best.safetensors.",
                        step, by, figure(value));
    text = fmt::format(
        "<p>{} steps{}, last loss {}. {} Figures on this page are of the last ones, "
        "final.safetensors.</p>",
        grouped(data.summary.at("steps").get<std::uint64_t>()),
        data.summary.value("stopped_early", false) ? ", stopped early" : "",
        figure(data.summary.at("loss")), chosen);
  }
  return section("Training", text + "<div class=\"two\">" + charts + "</div>");
}

std::string time_section(const RunData& data) {
  if (data.summary.is_null()) return "";
  const Json& time = data.summary.at("time");
  const auto value = [](const Json& from, const JsonPath& path) {
    const Json found = value_at(from, path);
    return found.is_number() ? found.get<double>() : 0.0;
  };
  const double exchange = value(time, {"exchange_s"});
  std::vector<BarPart> parts{
      {"waiting for data", "#d6384a", value(time, {"data_wait_s"})},
      // The exchange is a part of the step's time.
      {"step", "#1f6f9f", std::max(0.0, value(time, {"model_s"}) - exchange)},
      {"exchange between processes", "#8a5fb0", exchange},
      {"validation", "#7bb0a0", value(time, {"validate_s"})},
      {"checkpoints", "#c9a227", value(time, {"checkpoint_s"})},
      {"final evaluation", "#16966e", value(time, {"evaluate", "wall_s"})}};
  double known = 0;
  for (const BarPart& part : parts) known += part.value;
  const double wall = value(time, {"wall_s"});
  parts.push_back({"start and rest", "#9aa7b5", std::max(0.0, wall - known)});
  const std::string stages =
      stacked_bar({{"read", "#5a8fb0", value(time, {"loader", "read_s"})},
                   {"decode", "#e08b3c", value(time, {"loader", "decode_s"})},
                   {"transform", "#16966e", value(time, {"loader", "transform_s"})}},
                  "s");
  std::string text = fmt::format(
      "<p>The model waited for data {:.1f} % of the time that it trained, at {:.1f} patches a "
      "second; the loader read {} bytes.",
      value(time, {"stall_fraction"}) * 100, value(time, {"patches_per_s"}),
      grouped(static_cast<std::uint64_t>(value(time, {"loader", "bytes_read"}))));
  const Json busy = value_at(time, {"gpu", "busy"});
  if (busy.is_number()) text += fmt::format(" GPU busy {:.0f} %.", busy.get<double>() * 100);
  if (value(time, {"resumed_at"}) > 0) {
    text += fmt::format(" The run was resumed at step {:.0f}; times are from there.",
                        value(time, {"resumed_at"}));
  }
  return section("Where the time went",
                 fmt::format("<h3>The run, wall clock ({:.1f} s)</h3>{}<h3>Loader threads, summed "
                             "over threads</h3>{}{}</p>",
                             wall, stacked_bar(parts, "s"), stages, text));
}

}  // namespace headrace::report
