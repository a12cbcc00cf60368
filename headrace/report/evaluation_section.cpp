#include "headrace/report/evaluation_section.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "headrace/core/read_file.hpp"
#include "headrace/core/text.hpp"
#include "headrace/pixels/palette.hpp"
#include "headrace/report/eval_json.hpp"
#include "headrace/report/html.hpp"
#include "headrace/report/plane_sides.hpp"

namespace headrace::report {
namespace {

std::string bar(const Json& value, const std::string& colour) {
  const double part = value.is_null() ? 0 : std::clamp(value.get<double>(), 0.0, 1.0);
  return fmt::format("<span class=\"bar\"><i style=\"width:{:.1f}%;background:{}\"></i></span>",
                     part * 100, colour);
}

/// A heat map of counts: shade by the share of the row, counts as the tooltip.
std::string matrix_html(const Json& matrix, const std::vector<std::string>& names, bool percent) {
  Table table;
  table.head.push_back("true \\ predicted");
  table.head.insert(table.head.end(), names.begin(), names.end());
  for (std::size_t t = 0; t < names.size(); ++t) {
    const std::uint64_t sum = row_sum(matrix[t]);
    std::vector<std::string> row{names[t]};
    for (std::size_t p = 0; p < names.size(); ++p) {
      const auto count = matrix[t][p].get<std::uint64_t>();
      const double share = sum > 0 ? static_cast<double>(count) / static_cast<double>(sum) : 0;
      const std::string shown = percent
                                    ? (sum > 0 ? fmt::format("{:.1f}&#8239;%", share * 100) : "–")
                                    : (count > 0 ? std::to_string(count) : "·");
      row.push_back(fmt::format(
          "<div title=\"{}\" style=\"margin:-6px -10px;padding:7px 10px;border-radius:6px;"
          "background:rgba({},{:.3f});color:{}\">{}</div>",
          count, t == p ? "22,150,110" : "200,80,60", 0.05 + 0.8 * share,
          share > 0.55 ? "#fff" : "inherit", shown));
    }
    table.rows.push_back(std::move(row));
  }
  return table.html("matrix");
}

void add_group_rows(Table& table, const std::string& kind, const Json& groups,
                    const std::vector<std::string>& names, bool gleason) {
  for (const auto& [name, group] : groups.items()) {
    std::vector<std::string> row{kind, escaped_markup(name),
                                 std::to_string(group.at("images").get<std::uint64_t>()),
                                 with_interval(group, {"mean_dice"})};
    if (gleason) row.push_back(with_interval(group, {"gleason", "kappa"}));
    for (const char* key : {"dice", "auc"}) row.push_back(with_interval(group, {"tumour", key}));
    for (const std::string& c : names) row.push_back(figure(group.at("dice").at(c)));
    table.rows.push_back(std::move(row));
  }
}

std::string grade_text(const Json& grade) {
  if (grade.is_null()) return "not known";
  const int group = grade.at("grade_group").get<int>(), primary = grade.at("primary").get<int>();
  if (group == 0) return "no cancer";
  if (primary == 0) return fmt::format("group {}", group);
  const int tertiary = grade.value("tertiary", 0);
  return fmt::format("{}+{}{} (group {})", primary, grade.at("secondary").get<int>(),
                     tertiary > 0 ? fmt::format(", tertiary {}", tertiary) : "", group);
}

/// Predicted areas without background, as a thin bar.
std::string area_bar(const Json& image, const std::vector<std::string>& names) {
  double sum = 0;
  for (std::size_t c = 1; c < names.size(); ++c)
    sum += image.at("predicted_px").at(names[c]).get<double>();
  std::string out = "<div class=\"area\">";
  for (std::size_t c = 1; c < names.size() && sum > 0; ++c) {
    const double part = image.at("predicted_px").at(names[c]).get<double>() / sum * 100;
    out += fmt::format("<span title=\"{} {:.1f} %\" style=\"width:{:.2f}%;background:{}\"></span>",
                       escaped_markup(names[c]), part, part, pixels::css(pixels::class_colour(c)));
  }
  return out + "</div>";
}

}  // namespace

std::string sets_text(const RunData& data) {
  const char* key = data.volumes() ? "set_voxels" : "set_pixels";
  const auto pixels = data.eval.at("overall").at(key).get<std::uint64_t>();
  if (pixels == 0) return "";
  std::string names;
  for (const auto& [name, classes] : data.eval.at("class_sets").items()) {
    names += fmt::format("{}{} (one of {})", names.empty() ? "" : "; ", escaped_markup(name),
                         joined_names(classes));
  }
  return fmt::format(
      " {} more have a label that stands for several classes: {}. They take no part here, where "
      "one class is told from another.",
      grouped(pixels), names);
}

std::string class_section(const RunData& data) {
  const auto names = names_of(data.eval.at("classes"));
  const Json& overall = data.eval.at("overall");
  Table table{{"Class", "Dice", "", "IoU", "True pixels"}, {}, {false, true, false, true, true}};
  std::vector<std::string> labels;
  for (std::size_t c = 0; c < names.size(); ++c) {
    labels.push_back(class_label(names[c], c));
    table.rows.push_back(
        {labels.back(), with_interval(overall, {"dice", names[c]}),
         bar(overall.at("dice").at(names[c]), pixels::css(pixels::class_colour(c))),
         with_interval(overall, {"iou", names[c]}), grouped(row_sum(overall.at("matrix")[c]))});
  }
  return fmt::format(
      "<section><h2>Segmentation on split “{}”</h2><p>{} annotated pixels in {} tiles, at the "
      "patch’s "
      "resolution. Mean Dice leaves out {}.{}{}</p>{}<h3>Confusion, share of each true "
      "class</h3>{}</section>\n",
      text_of(data.eval.at("split")), grouped(overall.at("pixels").get<std::uint64_t>()),
      grouped(data.eval.at("tiles").get<std::uint64_t>()), escaped_markup(names.front()),
      sets_text(data), interval_text(overall), table.html(),
      matrix_html(overall.at("matrix"), labels, /*percent=*/true));
}

std::string group_section(const RunData& data) {
  const auto names = names_of(data.eval.at("classes"));
  Table table{{"", "Name", "Images", "Mean Dice"}, {}, {false, false, true, true}};
  if (data.gleason()) table.head.push_back("Kappa");
  table.head.insert(table.head.end(), {"Tumour Dice", "Tumour AUC"});
  for (std::size_t c = 0; c < names.size(); ++c) table.head.push_back(class_label(names[c], c));
  table.numeric.resize(table.head.size(), true);
  add_group_rows(table, "Cohort", data.eval.at("cohorts"), names, data.gleason());
  add_group_rows(table, "Scanner", data.eval.at("scanners"), names, data.gleason());
  return "<section><h2>By cohort and scanner</h2>" + table.html() + other_evaluations(data) +
         "</section>\n";
}

std::string other_evaluations(const RunData& data) {
  if (data.other_evals.empty()) return "";
  Table others{{"Store", "Split", "Weights", "Dataset", "Mean Dice"},
               {},
               {false, false, false, false, true}};
  if (data.gleason()) others.head.push_back("Kappa");
  const bool lesions = data.volumes() && !data.eval.at("lesion_classes").empty();
  if (lesions) others.head.push_back("FROC");
  others.numeric.resize(others.head.size(), true);
  for (const auto& [name, eval] : data.other_evals) {
    const Json& overall = eval.at("overall");
    others.rows.push_back(
        {text_of(eval.at("store")), text_of(eval.at("split")), text_of(eval.at("weights")),
         "<code>" + eval.at("dataset_hash").get<std::string>().substr(0, 12) + "</code>",
         figure(overall.at("mean_dice"))});
    if (data.gleason()) others.rows.back().push_back(figure(overall.at("gleason").at("kappa")));
    if (lesions) others.rows.back().push_back(figure(overall.at("lesion").at("froc")));
  }
  return "<h3>Other evaluations of this run</h3>" + others.html();
}

std::string grading_rule_text(const Json& eval) {
  const double lower = eval.value("min_area", 0.0) * 100;
  if (eval.value("grading", "biopsy") == "prostatectomy") {
    return fmt::format(
        "Prostatectomies: the secondary is the highest of the other patterns that fill at least "
        "{:.1f} % of the cancer; a higher one below that is tertiary.",
        lower);
  }
  return fmt::format(
      "Biopsies (ISUP 2014 and 2019): the secondary is the highest of the others, a higher pattern "
      "from {:.1f} % of the cancer on (noise floor), a lower one from {:.1f} %.",
      eval.value("min_higher", 0.0) * 100, lower);
}

std::string grade_section(const RunData& data) {
  if (!data.gleason()) return "";
  const Json& gleason = data.eval.at("overall").at("gleason");
  const Json& overall = data.eval.at("overall");
  std::string kappa = "Quadratic weighted kappa " + with_interval(overall, {"gleason", "kappa"}) +
                      ", accuracy " + with_interval(overall, {"gleason", "accuracy"});
  if (gleason.contains("why_no_kappa")) kappa += ": " + text_of(gleason.at("why_no_kappa"));
  const Json& eval = data.config.at("eval");
  std::vector<std::string> groups;
  for (int g = 0; g < 6; ++g) groups.push_back(g == 0 ? "none" : std::to_string(g));
  return fmt::format(
      "<section><h2>ISUP grade groups</h2><p>{} over {} slides; of {} cases, graded from the areas "
      "of all their slides together, kappa {}, accuracy {}. A slide has cancer when patterns 3 "
      "to 5 fill at least {:.1f} % of its tissue; the primary pattern has the largest area. "
      "{}{}</p><div class=\"two\"><div><h3>Slides</h3>{}</div><div><h3>Cases</h3>{}</div></div>"
      "</section>\n",
      kappa, gleason.at("slides").get<std::uint64_t>(),
      gleason.at("by_case").at("cases").get<std::uint64_t>(),
      with_interval(overall, {"gleason", "by_case", "kappa"}),
      with_interval(overall, {"gleason", "by_case", "accuracy"}),
      eval.value("min_cancer", 0.0) * 100, grading_rule_text(eval), interval_text(overall),
      matrix_html(gleason.at("matrix"), groups, /*percent=*/false),
      matrix_html(gleason.at("by_case").at("matrix"), groups, /*percent=*/false));
}

std::string image_section(const RunData& data) {
  const auto names = names_of(data.eval.at("classes"));
  const bool gleason = data.gleason();
  Table table{{"Image", "Case", "Cohort", "Scanner", "Mean Dice", "Tumour Dice", "AUC", "Share"},
              {},
              {false, false, false, false, true, true, true, true}};
  if (gleason)
    table.head.insert(table.head.end(), {"True grade", "Predicted", "", "Predicted areas"});
  const Json& images = data.eval.at("images");
  for (const Json& image : images) {
    if (table.rows.size() == kImagesShown) break;
    table.rows.push_back({text_of(image.at("id")), text_of(image.at("case")),
                          text_of(image.at("cohort")), text_of(image.at("scanner")),
                          figure(image.at("mean_dice")), figure(image.at("tumour").at("dice")),
                          figure(image.at("tumour").at("auc")), figure(image.at("tumour_share"))});
    if (!gleason) continue;
    const Json &truth = image.at("true_grade"), &predicted = image.at("predicted_grade");
    const bool same = !truth.is_null() && truth.at("grade_group") == predicted.at("grade_group");
    const char* mark = truth.is_null() ? ""
                       : same          ? "<span class=\"good\">✓</span>"
                                       : "<span class=\"off\">✗</span>";
    auto& row = table.rows.back();
    row.insert(row.end(), {grade_text(truth), grade_text(predicted), mark, area_bar(image, names)});
  }
  const std::string rest = images.size() > kImagesShown
                               ? fmt::format(" The first {} of {} images; eval-slides.csv has all.",
                                             kImagesShown, images.size())
                               : "";
  return fmt::format(
      "<section><h2>{}</h2><p>Share: the predicted tumour’s part of the predicted tissue, by which "
      "slides and cases are ranked. eval-cases.csv has the cases.{}</p>{}</section>\n",
      gleason ? "Slides" : "Images", rest, table.html());
}

/// A picture; for a plane, with the sides of the patient marked.
std::string montage_picture(const std::string& kind, const std::string& png) {
  std::string html = fmt::format("<img alt=\"{}\" src=\"data:image/png;base64,{}\">", kind,
                                 base64(std::as_bytes(std::span(png))));
  for (const PlaneSides& sides : kPlaneSides) {
    if (kind != sides.name) continue;
    html = fmt::format(
        "<span class=\"plane\">{}<i class=\"left\">{}</i><i class=\"right\">{}</i>"
        "<i class=\"top\">{}</i><i class=\"bottom\">{}</i></span>",
        html, sides.left, sides.right, sides.top, sides.bottom);
  }
  return fmt::format("<span>{}{}</span>", html, kind);
}

std::string montage_section(const RunData& data) {
  const Json montage = data.eval.value("montage", Json::array());
  if (montage.empty()) return "";
  const auto names = names_of(data.eval.at("labels"));
  std::string legend, rows;
  for (std::size_t c = 1; c < names.size(); ++c) {
    legend += fmt::format("<span class=\"key\">{}</span>", class_label(names[c], c));
  }
  const std::vector<const char*> slide_kinds{"input", "truth", "prediction"},
      plane_kinds{"axial", "coronal", "sagittal"};
  for (const Json& patch : montage) {
    rows += "<figure><div class=\"row\">";
    for (const char* kind : data.volumes() ? plane_kinds : slide_kinds) {
      const std::string png = read_file(data.path / patch.at(kind).get<std::string>());
      rows += montage_picture(kind, png);
    }
    const Json& tile = patch.at(data.volumes() ? "tile_zyx" : "tile_yx");
    const auto at = [&](std::size_t axis) { return tile[axis].get<std::int64_t>(); };
    const std::string place = data.volumes()
                                  ? fmt::format("slice {}, row {}, column {}", at(0), at(1), at(2))
                                  : fmt::format("row {}, column {}", at(0), at(1));
    rows += fmt::format("</div><figcaption>{}, {}</figcaption></figure>\n",
                        text_of(patch.at("image")), place);
  }
  const char* what =
      data.volumes()
          ? "Planes through patches of the validation windows, grey values as the network got them "
            "(percentiles 0.5 to 99.5), in radiological convention: R and L are the patient's "
            "right and left, A and P front and back, H and F head and feet. Outlined: the "
            "annotation. Tinted: what the network said."
          : "The input is what the network got, after the transforms, with the normalisation "
            "undone.";
  return fmt::format(
      "<section><h2>What the model saw and said</h2><p>{}</p><div "
      "class=\"legend\">{}</div><br><div "
      "class=\"montage\">{}</div></section>\n",
      what, legend, rows);
}

}  // namespace headrace::report
