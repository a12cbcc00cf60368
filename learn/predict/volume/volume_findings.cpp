#include "learn/predict/volume/volume_findings.hpp"

#include "headrace/core/csv_line.hpp"

#include <fmt/format.h>

namespace headrace::predict {
namespace {

Json end_points_lps_mm(const AxialDiameter& diameter, const imaging::VolumeGrid& grid) {
  Json out = Json::array();
  for (const auto& [y, x] : diameter.ends_yx) {
    out.push_back(grid.to_lps_mm(static_cast<double>(x), static_cast<double>(y),
                                 static_cast<double>(diameter.slice)));
  }
  return out;
}

Json class_name(const PredictedLesion& lesion, const FindingRules& rules) {
  return lesion.class_value ? Json(rules.classes.at(*lesion.class_value)) : Json(nullptr);
}

Json lesion_json(const PredictedLesion& lesion, const VolumeFindings& findings) {
  Json out = lesion.extent.to_json(findings.grid);
  out["score"] = lesion.score;
  out["probability"] = or_null(lesion.probability);
  out["class"] = class_name(lesion, findings.rules);
  out["class_value"] = or_null(lesion.class_value);
  out["longest_axial_diameter_mm"] = lesion.diameter.longest_mm;
  out["perpendicular_axial_diameter_mm"] = lesion.diameter.perpendicular_mm;
  out["diameter_slice_index_z"] = lesion.diameter.slice;
  out["diameter_end_points_lps_mm"] = end_points_lps_mm(lesion.diameter, findings.grid);
  out["diameter_end_points_yx"] = lesion.diameter.ends_yx;
  out["location"] = lesion.place.to_json();
  return out;
}

Json search_json(const FindingRules& rules) {
  Json classes = Json::array();
  for (const std::uint8_t value : rules.lesion_classes) classes.push_back(rules.classes[value]);
  return {{"classes", std::move(classes)},
          {"lowest_score", rules.lesion_lowest},
          {"least_volume_mm3", rules.lesion_min_mm3}};
}

Json reason_json(const std::string& reason) {
  return reason.empty() ? Json(nullptr) : Json(reason);
}

Json study_json(const VolumeFindings& findings) {
  const auto& point = findings.rules.operating_point;
  Json flag = nullptr;
  if (point.value) {
    flag = {{"positive", *findings.positive()}, {"operating_point", point.value->to_json()}};
  }
  return {{"score", findings.study_score()},
          {"flag", std::move(flag)},
          {"reason", reason_json(point.reason)}};
}

}  // namespace

double VolumeFindings::study_score() const { return lesions.empty() ? 0 : lesions.front().score; }

std::optional<bool> VolumeFindings::positive() const {
  if (!rules.operating_point.value) return std::nullopt;
  return study_score() >= rules.operating_point.value->threshold;
}

Json VolumeFindings::to_json() const {
  Json out = {{"structures", Json::object()},
              {"lesions", nullptr},
              {"lesion_search", nullptr},
              {"calibration", nullptr},
              {"study", nullptr}};
  for (std::size_t c = 1; c < structures.size(); ++c) {
    Json& of = out["structures"][rules.classes[c]] = structures[c].to_json(grid);
    of["class_value"] = c;
  }
  if (rules.lesion_classes.empty()) return out;
  out["lesions"] = Json::array();
  for (const PredictedLesion& lesion : lesions)
    out["lesions"].push_back(lesion_json(lesion, *this));
  out["lesion_search"] = search_json(rules);
  const auto& curve = rules.calibration;
  out["calibration"] = {{"curve", curve.value ? curve.value->to_json() : Json(nullptr)},
                        {"reason", reason_json(curve.reason)}};
  out["study"] = study_json(*this);
  return out;
}

std::string VolumeFindings::lesions_csv(const std::string& id) const {
  std::string out =
      "id,lesion,score,probability,class,volume_ml,longest_axial_diameter_mm,"
      "perpendicular_axial_diameter_mm,diameter_slice_index_z,x_mm,y_mm,z_mm,location\n";
  for (std::size_t k = 0; k < lesions.size(); ++k) {
    const PredictedLesion& lesion = lesions[k];
    const auto [x, y, z] = lesion.extent.centre_index_xyz();
    const imaging::Vec3 centre = grid.to_lps_mm(x, y, z);
    out += csv_line({id, k + 1, lesion.score, or_null(lesion.probability),
                     class_name(lesion, rules), lesion.extent.volume_ml(grid),
                     lesion.diameter.longest_mm, lesion.diameter.perpendicular_mm,
                     lesion.diameter.slice, centre[0], centre[1], centre[2], lesion.place.text()});
  }
  return out;
}

}  // namespace headrace::predict
