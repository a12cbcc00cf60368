#include "learn/measure/figure_table.hpp"

#include <algorithm>
#include <iterator>

#include "learn/measure/volume/volume_figures.hpp"

namespace headrace::measure {
namespace {

constexpr JudgedKind kSlides = JudgedKind::slides, kVolumes = JudgedKind::volumes;
constexpr Better kLess = Better::less;

/// Figures of either kind, then by kind; where a place needs another order the row states it.
constexpr Figure kTable[] = {
    {.key = "mean_dice",
     .title = "Mean Dice",
     .csv = "mean_dice",
     .main = {.grading = 3, .lesions = 4, .volumes = 1, .slides = 1},
     .baseline = {"Mean Dice"},
     .image_column = {"Mean Dice"},
     .console = "mean Dice",
     .console_baseline = true,
     .validation = "mean_dice",
     .compared = true,
     .tracked = {1, 1}},
    {.key = "dice.{class}",
     .title = "Dice",
     .background = true,
     .csv = "dice_{class}",
     .baseline = {"{class} Dice"},
     .by_group = {"Dice"},
     .class_column = {"Dice"},
     .image_column = {"{class} Dice", kVolumes},
     .console = "Dice",
     .console_baseline = true,
     .validation = "dice",
     .compared = true,
     .tracked = {2, 2}},

    // By class, of each volume.
    {.key = "surface_dice.{class}",
     .title = "Surface Dice",
     .of = kVolumes,
     .values = &VolumeFigures::surface_dice,
     .csv = "surface_dice_{class}",
     .baseline = {"{class} surface Dice"},
     .by_group = {"Surface Dice"},
     .class_column = {"Surface Dice"},
     .console = "surface Dice",
     .validation = "surface_dice",
     .compared = true,
     .tracked = {6, 5}},
    {.key = "hd95.{class}",
     .title = "HD95",
     .unit = "mm",
     .of = kVolumes,
     .better = kLess,
     .margin = 1,
     .digits = 1,
     .values = &VolumeFigures::hd95_mm,
     .csv = "hd95_{class}",
     .by_group = {"HD95 (mm; DeepMind’s surface-distance)"},
     .class_column = {"HD95, mm"},
     .image_column = {"HD95, mm"},
     .console = "HD95",
     .validation = "hd95",
     .tracked = {7, 6}},
    {.key = "hd95_penalised.{class}",
     .title = "HD95 penalised",
     .unit = "mm",
     .of = kVolumes,
     .better = kLess,
     .margin = 1,
     .digits = 1,
     .values = &VolumeFigures::hd95_penalised_mm,
     .baseline = {"{class} HD95 penalised, mm"},
     .class_column = {"penalised"},
     .compared = true},

    // By class, of volumes.
    {.key = "structure.{class}",
     .title = "Outcome",  // a word, of single volumes alone
     .of = kVolumes,
     .csv = "structure_{class}"},
    {.key = "structures.{class}.found",
     .title = "Found",
     .of = kVolumes,
     .count = true,
     .class_column = {"Found"},
     .console = "found"},
    {.key = "structures.{class}.missed",
     .title = "Missed",
     .of = kVolumes,
     .better = kLess,
     .count = true,
     .class_column = {"Missed"},
     .console = "missed"},
    {.key = "structures.{class}.invented",
     .title = "Invented",
     .of = kVolumes,
     .better = kLess,
     .count = true,
     .class_column = {"Invented"},
     .console = "invented"},
    {.key = "hd95_undefined.{class}",
     .title = "HD95 undefined",
     .of = kVolumes,
     .better = kLess,
     .count = true},
    {.key = "pooled_dice.{class}",
     .title = "Pooled Dice",
     .of = kVolumes,
     .background = true,
     .class_column = {"Pooled Dice"},
     .class_interval = false,
     .tracked = {.number = 4}},
    {.key = "iou.{class}",
     .title = "IoU",
     .background = true,
     .class_column = {"IoU", kSlides},
     .tracked = {3, 3}},

    // Of slides.
    {.key = "tumour.dice",
     .title = "{region} Dice",
     .of = kSlides,
     .csv = "{region}_dice",
     .main = {.grading = 4, .slides = 2},
     .baseline = {"{region} Dice"},
     .image_column = {"{region} Dice"},
     .compared = true},
    {.key = "tumour.iou", .title = "{region} IoU", .of = kSlides},
    {.key = "tumour.auc",
     .title = "{region} AUC, pixels",
     .of = kSlides,
     .csv = "{region}_auc",
     .main = {.slides = 3},
     .baseline = {"{region} AUC, pixels"},
     .group_column = {"{region} AUC"},
     .image_column = {"AUC"},
     .compared = true,
     .tracked = {9, 7}},
    {.key = "tumour.objects.f1",
     .title = "F1 of structures, {region}",
     .of = kSlides,
     .csv = "{region}_f1"},
    {.key = "objects.{class}.f1",
     .title = "F1 of structures",
     .of = kSlides,
     .csv = "f1_{class}",
     .tracked = {.number = 14}},
    {.key = "tumour.objects.pq",
     .title = "Panoptic quality, {region}",
     .of = kSlides,
     .csv = "{region}_pq",
     .compared = true},
    {.key = "objects.{class}.pq", .title = "Panoptic quality", .of = kSlides, .csv = "pq_{class}"},
    {.key = "tumour.objects.sq", .title = "IoU of matched structures, {region}", .of = kSlides},
    {.key = "objects.{class}.sq", .title = "IoU of matched structures", .of = kSlides},
    {.key = "tumour.objects.missed",
     .title = "Missed structures, {region}",
     .of = kSlides,
     .better = kLess,
     .count = true},
    {.key = "objects.{class}.missed",
     .title = "Missed structures",
     .of = kSlides,
     .better = kLess,
     .count = true},
    {.key = "tumour.objects.invented",
     .title = "Invented structures, {region}",
     .of = kSlides,
     .better = kLess,
     .count = true},
    {.key = "objects.{class}.invented",
     .title = "Invented structures",
     .of = kSlides,
     .better = kLess,
     .count = true},
    {.key = "detection.specificity",
     .title = "Specificity asked for",
     .of = kSlides,
     .asked = true,
     .tracked = {.number = 10}},
    {.key = "detection.slides.auc",
     .title = "AUC of slides",
     .of = kSlides,
     .compared = true,
     .tracked = {.column = 8}},
    {.key = "detection.slides.sensitivity", .title = "Sensitivity for slides", .of = kSlides},
    {.key = "detection.cases.auc",
     .title = "AUC of cases",
     .of = kSlides,
     .compared = true,
     .tracked = {.column = 9}},
    {.key = "detection.cases.sensitivity", .title = "Sensitivity for cases", .of = kSlides},
    {.key = "gleason.kappa",
     .title = "Quadratic kappa of slides",
     .of = kSlides,
     .main = {.grading = 1},
     .baseline = {"Quadratic kappa"},
     .console = "kappa",
     .console_baseline = true,
     .validation = "kappa",
     .compared = true,
     .tracked = {8, 4}},
    {.key = "gleason.accuracy",
     .title = "Accuracy of slides",
     .of = kSlides,
     .tracked = {.number = 11}},
    {.key = "gleason.by_case.kappa",
     .title = "Quadratic kappa of cases",
     .of = kSlides,
     .main = {.grading = 2},
     .compared = true},
    {.key = "gleason.by_case.accuracy", .title = "Accuracy of cases", .of = kSlides},

    {.key = "calibration.ece",
     .title = "Expected calibration error",
     .better = kLess,
     .csv = "ece",
     .compared = true,
     .tracked = {13, 12}},
    {.key = "calibration.brier", .title = "Brier score", .better = kLess, .csv = "brier"},

    // Of lesions in volumes.
    {.key = "lesion.froc",
     .title = "FROC",
     .of = kVolumes,
     .main = {.lesions = 1},
     .baseline = {"FROC"},
     .console = "FROC",
     .console_baseline = true,
     .compared = true,
     .tracked = {12, 10}},
    {.key = "lesion.sensitivity_at_1",
     .title = "Sensitivity at 1 false positive a scan",
     .of = kVolumes,
     .main = {.lesions = 2},
     .baseline = {"Sensitivity at 1 false positive a scan"},
     .console = "sensitivity at 1",
     .compared = true,
     .tracked = {.column = 11}},
    {.key = "lesion.sensitivity_at_{rate}",
     .title = "Sensitivity at false positives a scan",
     .of = kVolumes},
    {.key = "lesion.sensitivity",
     .title = "Sensitivity for lesions",
     .of = kVolumes,
     .lesion_row = "Sensitivity for lesions, calls from {probability}"},
    {.key = "lesion.precision",
     .title = "Precision of calls",
     .of = kVolumes,
     .lesion_row = "Precision of these calls"},
    {.key = "lesion.false_positives_per_scan",
     .title = "False positives a scan",
     .of = kVolumes,
     .better = kLess,
     .margin = 0.25,
     .lesion_row = "False positives a scan"},
    {.key = "lesion.by_size.{size}.sensitivity",
     .title = "Sensitivity for lesions of a size",
     .of = kVolumes},
    {.key = "lesion.by_size.{size}.sensitivity_at_1",
     .title = "Sensitivity at 1 false positive a scan for lesions of a size",
     .of = kVolumes},
    {.key = "lesion.case.auc",
     .title = "AUC of cases with a lesion",
     .of = kVolumes,
     .main = {.lesions = 3},
     .baseline = {"AUC of cases with a lesion"},
     .lesion_row = "Cases with a lesion: AUC of the highest call",
     .compared = true},
    {.key = "lesion.case.sensitivity",
     .title = "Sensitivity for cases",
     .of = kVolumes,
     .lesion_row = "Sensitivity for cases"},
    {.key = "lesion.case.specificity",
     .title = "Specificity for cases",
     .of = kVolumes,
     .lesion_row = "Specificity for cases"},
    {.key = "lesion.case.sensitivity_at_specificity",
     .title = "Sensitivity for cases at a specificity",
     .of = kVolumes,
     .lesion_row = "Sensitivity for cases at specificity {specificity}"},
    {.key = "lesion.voxel.auc",
     .title = "AUC of the lesion’s voxels",
     .of = kVolumes,
     .csv = "auc",
     .image_key = "lesion_voxel.auc",
     .baseline = {"AUC of the lesion’s voxels"},
     .lesion_row = "Voxels in the body: AUC of the lesion’s probability"},
    {.key = "lesion.voxel.ece",
     .title = "Expected calibration error of the lesion’s voxels",
     .of = kVolumes,
     .better = kLess},
    {.key = "lesion.voxel.brier",
     .title = "Brier score of the lesion’s voxels",
     .of = kVolumes,
     .better = kLess},

    {.key = "accuracy", .title = "Accuracy", .baseline = {"Accuracy"}, .tracked = {.number = 5}},
};

constexpr bool holds(JudgedKind all, JudgedKind one) {
  return (static_cast<unsigned>(all) & static_cast<unsigned>(one)) != 0;
}

/// What is before and after the word in braces; the whole text without one.
struct Pattern {
  std::string_view before, after;
  bool varies = false;

  explicit Pattern(std::string_view key) : before(key) {
    const std::size_t open = key.find('{');
    if (open == std::string_view::npos) return;
    varies = true;
    before = key.substr(0, open);
    after = key.substr(key.find('}') + 1);
  }
  bool fits(std::string_view name) const {
    if (!varies) return name == before;
    return name.size() > before.size() + after.size() && name.starts_with(before) &&
           name.ends_with(after);
  }
};

JsonPath split(std::string_view key, std::string_view of_class) {
  JsonPath out;
  while (!key.empty()) {
    const std::size_t dot = std::min(key.find('.'), key.size());
    const std::string_view part = key.substr(0, dot);
    out.emplace_back(part == "{class}" ? of_class : part);
    key.remove_prefix(std::min(dot + 1, key.size()));
  }
  return out;
}

Json kinds_json(JudgedKind of) {
  Json out = Json::array();
  if (holds(of, kSlides)) out.push_back("slides");
  if (holds(of, kVolumes)) out.push_back("volumes");
  return out;
}

}  // namespace

bool Figure::in(JudgedKind kind) const { return holds(of, kind); }

JsonPath Figure::path(std::string_view of_class) const { return split(key, of_class); }

JsonPath Figure::image_path(std::string_view of_class) const {
  return split(image_key.empty() ? key : image_key, of_class);
}

JsonPath Figure::root() const {
  const std::string_view before = Pattern(key).before;
  return split(before.ends_with('.') ? before.substr(0, before.size() - 1) : before, {});
}

std::span<const Figure> figure_table() { return kTable; }

const Figure* find_figure(std::string_view name) {
  const auto found = std::find_if(std::begin(kTable), std::end(kTable), [&](const Figure& figure) {
    return Pattern(figure.key).fits(name);
  });
  return found != std::end(kTable) ? &*found : nullptr;
}

std::vector<const Figure*> figures_at(FigurePlace Figure::*place, JudgedKind kind) {
  std::vector<const Figure*> out;
  for (const Figure& figure : kTable) {
    const FigurePlace& at = figure.*place;
    if (!at.text.empty() && figure.in(kind) && holds(at.of, kind)) out.push_back(&figure);
  }
  return out;
}

std::vector<const Figure*> figures_of_volumes() {
  std::vector<const Figure*> out;
  for (const Figure& figure : kTable) {
    if (figure.values != nullptr) out.push_back(&figure);
  }
  return out;
}

std::string filled(std::string_view text, std::string_view of_class, std::string_view region) {
  std::string out;
  while (!text.empty()) {  // once through: a class may be called "{region}"
    const auto take = [&](std::string_view word, std::string_view name) {
      if (!text.starts_with(word)) return false;
      out += name;
      text.remove_prefix(word.size());
      return true;
    };
    if (take("{class}", of_class) || take("{region}", region)) continue;
    out += text.front();
    text.remove_prefix(1);
  }
  return out;
}

Json figure_table_json() {
  Json out = Json::array();
  for (const Figure& figure : kTable) {
    out.push_back(
        {{"key", figure.key},
         {"title", figure.title},
         {"unit", figure.unit},
         {"of", kinds_json(figure.of)},
         {"smaller_is_better", figure.better == Better::less},
         {"by_class", figure.by_class()},
         {"validation", figure.validation},
         {"tracked", {{"number", figure.tracked.number}, {"column", figure.tracked.column}}}});
  }
  return out;
}

}  // namespace headrace::measure
