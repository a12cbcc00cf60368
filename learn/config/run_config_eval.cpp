#include <fmt/format.h>

#include <algorithm>

#include "learn/config/run_config_parts.hpp"

namespace headrace::config::detail {
namespace {

using Problem = std::function<std::string()>;

Problem only_for(const RunConfig& config, loader::Task task) {
  return [&config, task] {
    if (config.task == task) return std::string();
    return fmt::format("belongs to task: {}, but the task is '{}'. Leave it out", name_of(task),
                       name_of(config.task));
  };
}

Problem only_where(bool fits, const char* owner) {
  return [fits, owner] {
    return fits ? std::string() : fmt::format("belongs to {}; leave it out", owner);
  };
}

Problem only_for_biopsies(const RunConfig& config) {
  return [&config] {
    const std::string of_task = only_for(config, loader::Task::grading)();
    if (!of_task.empty() || config.eval.grading == Specimen::biopsy) return of_task;
    return std::string(
        "is the noise floor of biopsies; of a prostatectomy eval.min_area says from when a higher "
        "pattern counts. Leave it out");
  };
}

/// Positive numbers, each above the one before.
Form ascending_form(std::vector<double>& values) {
  Form form = form::numbers(values, 0.001, 1e6);
  form.accepts += ", ascending";
  form.read = [&values, read_all = form.read](const YamlValue& list) {
    read_all(list);
    const auto fallen = std::adjacent_find(values.begin(), values.end(), std::greater_equal<>());
    if (fallen == values.end()) return;
    list.as_list()[static_cast<std::size_t>(fallen - values.begin()) + 1].reject(
        "numbers of the list must ascend");
  };
  return form;
}

Fields slide_fields(RunConfig& config) {
  RunConfig::Eval& eval = config.eval;
  const Problem gleason = only_for(config, loader::Task::grading);
  return {
      Field{"grading", form::choice(eval.grading), "grading: rule that grades slides"}.unless(
          gleason),
      Field{"min_cancer", form::number(eval.min_cancer, 0, 1),
            "grading: part of the tissue that must be cancer"}
          .unless(gleason),
      Field{"min_area", form::number(eval.min_area, 0, 1),
            "grading: part of the cancer that a pattern needs to count"}
          .unless(gleason),
      Field{"min_higher", form::number(eval.min_higher, 0, 1),
            "grading, biopsy: part of the cancer that a higher pattern needs"}
          .unless(only_for_biopsies(config)),
      Field{"tumour_classes", form::distinct_texts(eval.tumour_classes, "class"),
            "slides: classes that are tumour", "grading: the patterns; segmentation: none"}
          .unless(only_where(!config.volumes, "slides")),
      Field{"specificity", form::number(eval.specificity, 0, 1),
            "at which the sensitivity for slides and cases is read off"}
          .unless(only_where(!config.volumes || config.task == loader::Task::lesions,
                             "slides and to task: lesions")),
  };
}

Fields volume_fields(RunConfig& config) {
  RunConfig::Eval& eval = config.eval;
  const Problem colorectal = only_for(config, loader::Task::lesions);
  return {
      Field{"surface_tolerance_mm", form::number(eval.surface_tolerance_mm, 0, 1000),
            "volumes: of surface Dice"}
          .unless(only_where(config.volumes, "volumes")),
      Field{"lesion_probability", form::number(eval.lesion_probability, 0.001, 1),
            "lesions: hits and false positives count calls from here"}
          .unless(colorectal),
      Field{"lesion_lowest", form::number(eval.lesion_lowest, 0.001, 1),
            "lesions: lowest score of a call, where FROC ends"}
          .unless(colorectal),
      Field{"lesion_diameters_mm", ascending_form(eval.lesion_diameters_mm),
            "lesions: sizes between which sensitivity is given"}
          .unless(colorectal),
      Field{"lesion_min_mm3", form::number(eval.lesion_min_mm3, 0, 1e9),
            "lesions: smaller calls are dropped"}
          .unless(colorectal),
      Field{"lesion_overlap", form::number(eval.lesion_overlap, 0, 1),
            "lesions: IoU from which a call hits a lesion"}
          .unless(colorectal),
      Field{"lesion_classes", form::distinct_texts(eval.lesion_classes, "class"),
            "lesions: names of classes", "every class above 0"}
          .unless(colorectal),
  };
}

}  // namespace

Fields eval_fields(RunConfig& config) {
  RunConfig::Eval& eval = config.eval;
  Fields fields{
      loader::detail::tile_overlap_field(config),
      {"window", form::choice(eval.window), "how tiles are blended"},
      loader::detail::tile_batch_field(config),
      {"bootstrap", form::number(eval.bootstrap, 0, 1'000'000),
       "resamples of the cases for the intervals of figures; 0: none"},
      Field{"subset", form::number(eval.subset, 0, 1'000'000),
            "images of each validation during training, the same ones every time; 0: all"}
          .written_if(eval.subset != 0),
  };
  for (Field& field : slide_fields(config)) fields.push_back(std::move(field));
  for (Field& field : volume_fields(config)) fields.push_back(std::move(field));
  return fields;
}

void read_eval(YamlMap map, RunConfig& config) {
  RunConfig::Eval& eval = config.eval;
  read_fields(map, eval_fields(config));
  const auto lowest = map.find("lesion_lowest");
  if (!lowest) eval.lesion_lowest = std::min(eval.lesion_lowest, eval.lesion_probability);
  if (eval.lesion_lowest > eval.lesion_probability) {
    lowest->reject(
        fmt::format("must be at most eval.lesion_probability, {}", eval.lesion_probability));
  }
  map.finish();
}

}  // namespace headrace::config::detail
