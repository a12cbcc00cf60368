#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "headrace/core/error.hpp"
#include "headrace/loader/config/run_config_parts.hpp"

namespace headrace::loader::detail {
namespace {

/// Keys of `eval` for some tasks only.
const std::map<std::string, std::vector<std::string>>& tasks_of_key() {
  static const std::map<std::string, std::vector<std::string>> keys{
      {"min_cancer", {"gleason"}},
      {"min_area", {"gleason"}},
      {"grading", {"gleason"}},
      {"min_higher", {"gleason"}},
      {"lesion_probability", {"colorectal"}},
      {"lesion_lowest", {"colorectal"}},
      {"lesion_diameters_mm", {"colorectal"}},
      {"lesion_min_mm3", {"colorectal"}},
      {"lesion_overlap", {"colorectal"}},
      {"lesion_classes", {"colorectal"}}};
  return keys;
}

/// Positive numbers, each above the one before.
std::vector<double> ascending_of(const YamlValue& list) {
  std::vector<double> out;
  for (const YamlValue& entry : list.as_list()) {
    out.push_back(entry.as_double(0.001, 1e6));
    if (out.size() > 1 && out[out.size() - 2] >= out.back())
      entry.reject("numbers of the list must ascend");
  }
  return out;
}

std::vector<std::string> distinct_names(const YamlValue& list) {
  std::vector<std::string> names;
  for (const YamlValue& entry : list.as_list()) {
    const std::string name = entry.as_string();
    if (std::find(names.begin(), names.end(), name) != names.end())
      entry.reject(fmt::format("class '{}' stands twice in the list; keep one", name));
    names.push_back(name);
  }
  return names;
}

}  // namespace

RunConfig::Eval parse_eval(YamlMap map, const RunConfig& config) {
  RunConfig::Eval eval;
  if (config.volumes) eval.batch = 2;
  eval.overlap = map.get_double("overlap", eval.overlap, 0, 0.9);
  eval.window = map.get_choice("window", eval.window, {"gaussian", "linear"});
  eval.batch = map.get_int("batch", eval.batch, 1, 4096);
  for (const auto& [key, tasks] : tasks_of_key()) {
    const auto value = map.find(key);
    if (!value || std::find(tasks.begin(), tasks.end(), config.task) != tasks.end()) continue;
    value->reject(fmt::format("belongs to task: {}, but the task is '{}'. Leave it out",
                              fmt::join(tasks, " or "), config.task));
  }
  const auto of_kind = [&](const char* key, bool fits, const char* kind) {
    const auto value = map.find(key);
    if (value && !fits) value->reject(fmt::format("belongs to {}; leave it out", kind));
  };
  of_kind("surface_tolerance_mm", config.volumes, "volumes");
  of_kind("tumour_classes", !config.volumes, "slides");
  of_kind("specificity", !config.volumes || config.task == "colorectal",
          "slides and to task: colorectal");
  eval.min_cancer = map.get_double("min_cancer", eval.min_cancer, 0, 1);
  eval.min_area = map.get_double("min_area", eval.min_area, 0, 1);
  eval.grading = map.get_choice("grading", eval.grading, {"biopsy", "prostatectomy"});
  if (const auto value = map.find("min_higher"); value && eval.grading != "biopsy") {
    value->reject(
        "is the noise floor of biopsies; of a prostatectomy eval.min_area says from when "
        "a higher pattern counts. Leave it out");
  }
  eval.min_higher = map.get_double("min_higher", eval.min_higher, 0, 1);
  if (const auto value = map.find("tumour_classes")) eval.tumour_classes = distinct_names(*value);
  eval.bootstrap = map.get_int("bootstrap", eval.bootstrap, 0, 1'000'000);
  eval.surface_tolerance_mm =
      map.get_double("surface_tolerance_mm", eval.surface_tolerance_mm, 0, 1000);
  eval.lesion_probability = map.get_double("lesion_probability", eval.lesion_probability, 0.001, 1);
  eval.lesion_lowest = map.get_double(
      "lesion_lowest", std::min(eval.lesion_lowest, eval.lesion_probability), 0.001, 1);
  if (eval.lesion_lowest > eval.lesion_probability) {
    const auto value = map.find("lesion_lowest");
    value->reject(
        fmt::format("must be at most eval.lesion_probability, {}", eval.lesion_probability));
  }
  eval.specificity = map.get_double("specificity", eval.specificity, 0, 1);
  if (const auto value = map.find("lesion_diameters_mm"))
    eval.lesion_diameters_mm = ascending_of(*value);
  eval.lesion_min_mm3 = map.get_double("lesion_min_mm3", eval.lesion_min_mm3, 0, 1e9);
  eval.lesion_overlap = map.get_double("lesion_overlap", eval.lesion_overlap, 0, 1);
  if (const auto value = map.find("lesion_classes")) eval.lesion_classes = distinct_names(*value);
  map.finish();
  return eval;
}

}  // namespace headrace::loader::detail
