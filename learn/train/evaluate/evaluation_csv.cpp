#include "learn/train/evaluate/evaluation_csv.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "headrace/core/csv_line.hpp"
#include "learn/measure/figure_table.hpp"

namespace headrace::train {
namespace {

/// Columns, and the place of each value in a row.
class Columns {
 public:
  void add(const std::string& name, const JsonPath& path) { columns_.emplace_back(name, path); }

  std::string csv_of(const Json& rows) const {
    std::string out;
    for (const auto& [name, path] : columns_) out += (out.empty() ? "" : ",") + csv_cell(name);
    for (const Json& row : rows) {
      std::string line;
      for (const auto& [name, path] : columns_) {
        const Json* value = find_at(row, path);
        line += "," + (value != nullptr ? csv_cell(*value) : "");
      }
      out += "\n" + line.substr(1);
    }
    return out + "\n";
  }

 private:
  std::vector<std::pair<std::string, JsonPath>> columns_;
};

/// The columns of the table of figures.
void add_figures(const Json& evaluation, measure::JudgedKind kind, const std::string& region,
                 Columns& columns) {
  const auto classes = evaluation.at("classes").get<std::vector<std::string>>();
  const bool lesions = !evaluation.value("lesion_classes", Json::array()).empty();
  for (const measure::Figure& row : measure::figure_table()) {
    if (row.csv.empty() || !row.in(kind)) continue;
    if (row.root().front() == "lesion" && !lesions) continue;
    if (!row.by_class()) {
      columns.add(measure::filled(row.csv, "", region), row.image_path());
      continue;
    }
    for (std::size_t c = row.background ? 0 : 1; c < classes.size(); ++c)
      columns.add(measure::filled(row.csv, classes[c], region), row.image_path(classes[c]));
  }
}

/// Columns of slides or of cases, `first` being those that say which.
Columns slide_columns(const Json& evaluation, const std::vector<std::string>& first) {
  Columns columns;
  for (const std::string& key : first) columns.add(key, {key});
  for (const char* key : {"pixels", "set_pixels"}) columns.add(key, {key});
  const Json* stated = find_at(evaluation, {"overall", "tumour", "stated"});
  const bool tumour = stated == nullptr || stated->get<bool>();
  const char* const region = tumour ? "tumour" : "foreground";
  add_figures(evaluation, measure::JudgedKind::slides, region, columns);
  columns.add(tumour ? "cancer" : "any_foreground", {"cancer"});
  columns.add(fmt::format("{}_share", region), {"tumour_share"});
  if (find_at(evaluation, {"overall", "gleason"}) == nullptr) return columns;
  for (const char* key : {"primary", "secondary", "grade_group"})
    columns.add(fmt::format("true_{}", key), {"true_grade", key});
  for (const char* key : {"primary", "secondary", "grade_group"})
    columns.add(key, {"predicted_grade", key});
  return columns;
}

Columns volume_columns(const Json& evaluation) {
  Columns columns;
  for (const char* key : {"id", "case", "cohort", "scanner", "phase", "voxels"})
    columns.add(key, {key});
  add_figures(evaluation, measure::JudgedKind::volumes, "", columns);
  if (evaluation.at("lesion_classes").empty()) return columns;
  for (const char* key : {"lesions", "lesions_hit", "calls", "false_positives"})
    columns.add(key, {"counts", key});
  return columns;
}

/// For a volume, the number of calls of at least `least` and of the lesions that they hit.
Json lesion_counts(const Json& volume, double least) {
  const auto count = [&](const Json& findings, bool hit) {
    return std::count_if(findings.begin(), findings.end(), [&](const Json& finding) {
      return finding.at("hit").get<bool>() == hit && finding.at("score").is_number() &&
             finding.at("score").get<double>() >= least;
    });
  };
  const Json &lesions = volume.at("lesions"), &calls = volume.at("calls");
  const auto wrong = count(calls, false);
  return {{"lesions", lesions.size()},
          {"lesions_hit", count(lesions, true)},
          {"calls", count(calls, true) + wrong},
          {"false_positives", wrong}};
}

}  // namespace

std::string slides_csv(const Json& evaluation) {
  return slide_columns(evaluation, {"id", "case", "cohort", "scanner"})
      .csv_of(evaluation.at("images"));
}

std::string cases_csv(const Json& evaluation) {
  Json rows = Json::array();
  for (const auto& [name, figures] : evaluation.at("cases").items()) {
    rows.push_back(figures);
    rows.back()["case"] = name;
  }
  return slide_columns(evaluation, {"case", "images"}).csv_of(rows);
}

std::string volumes_csv(const Json& evaluation) {
  Json rows = evaluation.at("images");
  if (!evaluation.at("lesion_classes").empty()) {
    for (Json& row : rows)
      row["counts"] = lesion_counts(row, evaluation.value("lesion_probability", 0.0));
  }
  return volume_columns(evaluation).csv_of(rows);
}

std::string lesions_csv(const Json& evaluation) {
  std::string out =
      "id,case,cohort,scanner,phase,kind,score,volume_mm3,diameter_mm,overlap,x_mm,y_mm,z_mm\n";
  const auto line = [&](const Json& image, const char* kind, const Json& finding) {
    for (const char* key : {"id", "case", "cohort", "scanner", "phase"})
      out += csv_cell(image.at(key)) + ",";
    out += kind;
    for (const char* key : {"score", "volume_mm3", "diameter_mm", "overlap"})
      out += "," + csv_cell(finding.at(key));
    for (const Json& mm : finding.at("centre_lps_mm")) out += "," + csv_cell(mm);
    out += "\n";
  };
  for (const Json& image : evaluation.at("images")) {
    for (const Json& lesion : image.at("lesions"))
      line(image, lesion.at("hit").get<bool>() ? "hit" : "missed", lesion);
    for (const Json& call : image.at("calls")) {
      if (!call.at("hit").get<bool>()) line(image, "false positive", call);
    }
  }
  return out;
}

}  // namespace headrace::train
