#include "learn/measure/volume/evaluated_volumes.hpp"

#include "learn/measure/base/evaluated_counts.hpp"
#include "learn/measure/figure_table.hpp"

namespace headrace::measure {
namespace {

LesionFinding finding_of(const Json& json) {
  LesionFinding out;
  out.voxels = json.at("voxels");
  out.volume_mm3 = json.at("volume_mm3");
  out.matched = json.at("hit");
  if (!json.at("score").is_null()) out.score = json.at("score");
  out.overlap = json.at("overlap");
  return out;
}

void put_values(const Json& of_classes, const std::vector<std::string>& classes,
                std::vector<std::optional<double>>& to) {
  for (std::size_t c = 1; c < classes.size(); ++c) {
    const Json& value = of_classes.at(classes[c]);
    if (!value.is_null()) to[c] = value.get<double>();
  }
}

JudgedVolume volume_of(const Json& image, const GroupRules& rules) {
  JudgedVolume out{{}, VolumeFigures(rules.classes.size(), rules.untold)};
  put_image_facts(image, out.facts);
  const Json phase = image.value("phase", Json());
  if (!phase.is_null()) out.facts.phase = phase.get<std::string>();
  VolumeFigures& figures = out.figures;
  figures.confusion = confusion_of(image, rules.classes.size(), rules.untold);
  figures.set_voxels = image.at("set_voxels");
  for (const Figure* row : figures_of_volumes()) {
    const std::string key = row->root().front();
    if (!row->later || image.contains(key))
      put_values(image.at(key), rules.classes, figures.*row->values);
  }
  if (!rules.lesions) return out;
  for (const Json& lesion : image.at("lesions")) figures.lesions.push_back(finding_of(lesion));
  for (const Json& call : image.at("calls")) figures.calls.push_back(finding_of(call));
  return out;
}

}  // namespace

bool EvaluatedVolumes::knows(const JsonPath& figure) const {
  if (figure.front() == "calibration") return false;
  return figure.front() != "lesion" || figure[1] != "voxel";
}

EvaluatedVolumes evaluated_volumes(const Json& evaluation, const std::string& origin) {
  return read_evaluation(origin, [&] {
    for (const Json& image : evaluation.at("images")) check_matrix(image, origin);
    EvaluatedVolumes out;
    GroupRules& rules = out.rules;
    rules.classes = evaluation.at("classes").get<std::vector<std::string>>();
    rules.untold = untold_classes(evaluation);
    rules.lesions = !evaluation.at("lesion_classes").empty();
    if (rules.lesions) {
      rules.operating_score = evaluation.at("lesion_probability");
      rules.specificity = evaluation.at("lesion_specificity");
      rules.diameters_mm = evaluation.at("lesion_diameters_mm").get<std::vector<double>>();
    }
    for (const Json& image : evaluation.at("images"))
      out.volumes.push_back(volume_of(image, rules));
    return out;
  });
}

}  // namespace headrace::measure
