#include "headrace/report/run_report.hpp"

#include <fmt/format.h>

#include "headrace/core/text.hpp"
#include "headrace/pixels/palette.hpp"
#include "headrace/report/baseline_section.hpp"
#include "headrace/report/calibration_section.hpp"
#include "headrace/report/eval_json.hpp"
#include "headrace/report/evaluation_section.hpp"
#include "headrace/report/html.hpp"
#include "headrace/report/run_data.hpp"
#include "headrace/report/style_sheet.hpp"
#include "headrace/report/svg_chart.hpp"
#include "headrace/report/tumour_section.hpp"
#include "headrace/report/volume_section.hpp"

namespace headrace::report {
namespace {

std::string tile(const std::string& value, const std::string& name) {
  return fmt::format("<div class=\"tile\"><b>{}</b><span>{}</span></div>", value, name);
}

std::string tiles(const RunData& data) {
  if (data.summary.is_null()) return "";
  const Json& time = data.summary.at("time");
  std::string out = tile(figure(data.summary.at("mean_dice")), "mean Dice");
  if (data.gleason()) out += tile(figure(data.summary.at("kappa")), "quadratic kappa");
  const Json lesion = data.summary.value("lesion", Json());
  if (lesion.is_object()) {
    out += tile(figure(lesion.at("froc")), "FROC, mean sensitivity");
    out += tile(figure(lesion.at("sensitivity_at_1")), "sensitivity at 1 false positive a scan");
  }
  out += tile(figure(data.summary.at("loss")), "last loss");
  out += tile(grouped(data.summary.at("steps").get<std::uint64_t>()), "steps");
  out += tile(figure(time.at("patches_per_s"), 1), "patches a second");
  out += tile(fmt::format("{:.1f}&#8239;%", time.at("stall_fraction").get<double>() * 100),
              "of the time waiting for data");
  const Json gpu = time.value("gpu", Json::object());
  if (gpu.contains("busy")) {
    out += tile(fmt::format("{:.0f}&#8239;%", gpu.at("busy").get<double>() * 100), "GPU busy");
  }
  return "<div class=\"tiles\">" + out + "</div>\n";
}

std::string curves(const RunData& data) {
  Chart loss{"Training loss", "step", {}, std::nullopt};
  Chart validation{"Validation Dice", "step", {}, std::array<double, 2>{0, 1}};
  Series total{"loss", "#1f6f9f", {}, false}, entropy{"cross-entropy", "#9bb8cb", {}, false};
  Series mean{"mean", "#1c2530", {}, true}, kappa{"kappa", "#1f6f9f", {}, true};
  Series froc{"FROC", "#d6384a", {}, true};
  std::vector<Series> classes;
  const Json names = data.run.at("classes");
  for (std::size_t c = 0; c < names.size(); ++c) {
    classes.push_back(
        {names[c].get<std::string>(), pixels::css(pixels::class_colour(c)), {}, true});
  }
  for (const Json& line : data.metrics) {
    const double step = line.at("step").get<double>();
    const auto add = [&](Series& series, const Json& value) {
      if (value.is_number()) series.points.push_back({step, value.get<double>()});
    };
    if (line.contains("loss")) {
      add(total, line.at("loss"));
      add(entropy, line.at("cross_entropy"));
    } else if (line.contains("validation")) {
      const Json& figures = line.at("validation");
      add(mean, figures.at("mean_dice"));
      for (Series& series : classes) add(series, figures.at("dice").at(series.name));
      if (figures.contains("kappa")) add(kappa, figures.at("kappa"));
      if (figures.contains("lesion")) add(froc, figures.at("lesion").at("froc"));
    }
  }
  loss.series = {entropy, total};
  validation.series = classes;
  validation.series.push_back(mean);
  if (data.gleason()) {
    validation.title = "Validation Dice and kappa";
    validation.series.push_back(kappa);
  }
  if (!froc.points.empty()) {
    validation.title = "Validation Dice and FROC";
    validation.series.push_back(froc);
  }
  const std::string charts = svg(loss) + svg(validation);
  if (charts.empty()) return "";
  return "<section><h2>Training</h2><div class=\"two\">" + charts + "</div></section>\n";
}

std::string time_section(const RunData& data) {
  if (data.summary.is_null()) return "";
  const Json& time = data.summary.at("time");
  const Json& loader = time.at("loader");
  const auto value = [](const Json& from, const char* key) { return from.at(key).get<double>(); };
  const std::string run = stacked_bar({{"model", "#1f6f9f", value(time, "model_s")},
                                       {"waiting for data", "#d6384a", value(time, "data_wait_s")},
                                       {"validation", "#7bb0a0", value(time, "validate_s")},
                                       {"checkpoints", "#c9a227", value(time, "checkpoint_s")}},
                                      "s");
  const std::string stages = stacked_bar({{"read", "#5a8fb0", value(loader, "read_s")},
                                          {"decode", "#e08b3c", value(loader, "decode_s")},
                                          {"transform", "#16966e", value(loader, "transform_s")}},
                                         "s");
  return fmt::format(
      "<section><h2>Where the time went</h2><h3>The run, wall clock ({:.1f} s)</h3>{}"
      "<h3>Loader threads, summed over threads</h3>{}<p>The model waited for data {:.1f} % of the "
      "time that "
      "it trained; the loader read {} bytes.</p></section>\n",
      value(time, "wall_s"), run, stages, value(time, "stall_fraction") * 100,
      grouped(loader.at("bytes_read").get<std::uint64_t>()));
}

std::string identity_section(const RunData& data) {
  Table table{{"", ""}, {}, {}};
  const auto add = [&](const char* name, const Json& value) {
    table.rows.push_back(
        {name, "<code>" +
                   escaped_markup(value.is_string() ? value.get<std::string>() : value.dump()) +
                   "</code>"});
  };
  add("config hash", data.run.at("config_hash"));
  add("dataset hash", data.run.at("dataset_hash"));
  if (!data.summary.is_null()) add("weights SHA-256", data.summary.at("weights_sha256"));
  add("code version", data.run.at("code_version"));
  for (const auto& [key, value] : data.run.at("runtime").items()) add(key.c_str(), value);
  add("JPEG decoder", data.run.at("decoder"));
  add("parameters", data.run.at("parameters"));
  add("images in the store", data.run.at("images"));
  return fmt::format(
      "<section><h2>Identity</h2><p>The same config, dataset, code and runtime give these weights "
      "again, bit for "
      "bit on a CPU.</p>{}<br><details><summary>Full "
      "config</summary><pre>{}</pre></details></section>\n",
      table.html("identity"), escaped_markup(data.config.dump(2)));
}

std::string header(const RunData& data) {
  const std::string name = std::filesystem::absolute(data.path / "x")
                               .lexically_normal()
                               .parent_path()
                               .filename()
                               .string();
  std::string out = fmt::format(
      "<header><h1>{}</h1><p>Headrace run · task {} · cohort {} · {} images</p></header>\n",
      escaped_markup(name), text_of(data.config.at("task")),
      joined_names(data.run.value("cohorts", Json::array())),
      data.run.at("images").get<std::uint64_t>());
  if (data.phantom()) {
    out +=
        "<div class=\"notice\"><b>Phantoms.</b> These images are synthetic. Their figures prove "
        "the path, not a "
        "model’s worth in the clinic.</div>\n";
  }
  return out;
}

}  // namespace

std::string render_run(const std::filesystem::path& run) {
  const RunData data = read_run(run);
  std::string body = header(data) + tiles(data);
  if (data.summary.is_null()) {
    body +=
        "<div class=\"notice\">This run has not come to its end; what follows is what there "
        "is.</div>\n";
  }
  body += curves(data);
  if (!data.eval.is_null()) {
    if (data.volumes()) {
      body += volume_class_section(data) + baseline_section(data) + lesion_section(data) +
              calibration_section(data) + volume_group_section(data) + montage_section(data) +
              volume_image_section(data);
    } else {
      body += class_section(data) + baseline_section(data) + tumour_section(data) +
              grade_section(data) + calibration_section(data) + group_section(data) +
              montage_section(data) + image_section(data);
    }
  }
  body += time_section(data) + identity_section(data);
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" "
      "content=\"width=device-width,initial-scale=1\"><title>Headrace run "
      "report</title><style>{}</style></head>\n"
      "<body><main>\n{}<footer>Headrace {}</footer></main></body></html>\n",
      kStyleSheet, body, text_of(data.run.at("code_version")));
}

}  // namespace headrace::report
