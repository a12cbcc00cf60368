#include "headrace/train/evaluation_csv.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace headrace::train {
namespace {

std::string cell(const Json& value) {
  if (value.is_null()) return std::string();
  if (!value.is_string()) return value.dump();
  std::string text = value.get<std::string>();
  if (text.find_first_of(",\"\n") == std::string::npos) return text;
  for (std::size_t at = 0; (at = text.find('"', at)) != std::string::npos; at += 2)
    text.insert(at, "\"");
  return "\"" + text + "\"";
}

}  // namespace

namespace {

/// A column and where its value stands.
using Column = std::pair<std::string, Json::json_pointer>;

/// Columns of slides or of cases, `first` being those that say which.
std::vector<Column> slide_columns(const Json& evaluation, const std::vector<std::string>& first) {
  std::vector<Column> columns;
  const auto add = [&](const std::string& name, const std::vector<std::string>& path) {
    Json::json_pointer at;
    for (const std::string& key : path) at /= key;
    columns.emplace_back(name, at);
  };
  for (const std::string& key : first) add(key, {key});
  for (const char* key : {"pixels", "set_pixels", "mean_dice"}) add(key, {key});
  const auto classes = evaluation.at("classes").get<std::vector<std::string>>();
  for (const std::string& name : classes) add("dice_" + name, {"dice", name});
  for (const char* key : {"dice", "auc"}) add(fmt::format("tumour_{}", key), {"tumour", key});
  for (const char* key : {"f1", "pq"}) {
    add(fmt::format("tumour_{}", key), {"tumour", "objects", key});
    for (std::size_t c = 1; c < classes.size(); ++c)
      add(fmt::format("{}_{}", key, classes[c]), {"objects", classes[c], key});
  }
  for (const char* key : {"ece", "brier"}) add(key, {"calibration", key});
  for (const char* key : {"cancer", "tumour_share"}) add(key, {key});
  if (evaluation.at("task") != "gleason") return columns;
  for (const char* key : {"primary", "secondary", "grade_group"})
    add(fmt::format("true_{}", key), {"true_grade", key});
  for (const char* key : {"primary", "secondary", "grade_group"})
    add(key, {"predicted_grade", key});
  return columns;
}

std::string csv_of(const std::vector<Column>& columns, const Json& rows) {
  std::string out;
  for (const auto& [name, path] : columns) out += (out.empty() ? "" : ",") + cell(name);
  for (const Json& row : rows) {
    std::string line;
    for (const auto& [name, path] : columns)
      line += "," + cell(row.contains(path) ? row.at(path) : Json());
    out += "\n" + line.substr(1);
  }
  return out + "\n";
}

}  // namespace

std::string slides_csv(const Json& evaluation) {
  return csv_of(slide_columns(evaluation, {"id", "case", "cohort", "scanner"}),
                evaluation.at("images"));
}

std::string cases_csv(const Json& evaluation) {
  Json rows = Json::array();
  for (const auto& [name, figures] : evaluation.at("cases").items()) {
    rows.push_back(figures);
    rows.back()["case"] = name;
  }
  return csv_of(slide_columns(evaluation, {"case", "images"}), rows);
}

std::string volumes_csv(const Json& evaluation) {
  const Json& classes = evaluation.at("classes");
  const bool lesions = !evaluation.at("lesion_classes").empty();
  std::string out = "id,case,cohort,phase,voxels,mean_dice";
  const auto named = [&](const std::string& figure, std::size_t first) {
    for (std::size_t c = first; c < classes.size(); ++c)
      out += "," + cell(figure + "_" + classes[c].get<std::string>());
  };
  named("dice", 0);
  named("surface_dice", 1);
  named("hd95", 1);
  named("structure", 1);
  out += ",ece,brier";
  out += lesions ? ",auc,lesions,lesions_hit,calls,false_positives\n" : "\n";
  const double operating = evaluation.value("lesion_probability", 0.0);
  for (const Json& image : evaluation.at("images")) {
    for (const char* key : {"id", "case", "cohort", "phase", "voxels", "mean_dice"})
      out += (key == std::string("id") ? "" : ",") + cell(image.at(key));
    for (std::size_t c = 0; c < classes.size(); ++c)
      out += "," + cell(image.at("dice").at(classes[c].get<std::string>()));
    for (const char* figure : {"surface_dice", "hd95", "structure"}) {
      for (std::size_t c = 1; c < classes.size(); ++c)
        out += "," + cell(image.at(figure).at(classes[c].get<std::string>()));
    }
    for (const char* figure : {"ece", "brier"})
      out += "," + cell(image.at("calibration").at(figure));
    if (lesions) {
      const auto count = [&](const Json& findings, bool hit) {
        return std::count_if(findings.begin(), findings.end(), [&](const Json& finding) {
          return finding.at("hit").get<bool>() == hit && finding.at("score").is_number() &&
                 finding.at("score").get<double>() >= operating;
        });
      };
      const Json& calls = image.at("calls");
      const auto hits = count(calls, true), wrong = count(calls, false);
      out += "," + cell(image.at("lesion_voxel").at("auc")) + "," +
             std::to_string(image.at("lesions").size()) + "," +
             std::to_string(count(image.at("lesions"), true)) + "," + std::to_string(hits + wrong) +
             "," + std::to_string(wrong);
    }
    out += "\n";
  }
  return out;
}

std::string lesions_csv(const Json& evaluation) {
  std::string out =
      "id,case,cohort,phase,kind,score,volume_mm3,diameter_mm,overlap,x_mm,y_mm,z_mm\n";
  const auto line = [&](const Json& image, const char* kind, const Json& finding) {
    for (const char* key : {"id", "case", "cohort", "phase"}) out += cell(image.at(key)) + ",";
    out += kind;
    for (const char* key : {"score", "volume_mm3", "diameter_mm", "overlap"})
      out += "," + cell(finding.at(key));
    for (const Json& mm : finding.at("centre_lps_mm")) out += "," + cell(mm);
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
