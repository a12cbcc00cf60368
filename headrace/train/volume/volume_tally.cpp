#include "headrace/train/volume/volume_tally.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "headrace/core/error.hpp"
#include "headrace/loader/level_choice.hpp"

namespace headrace::train {
namespace {

constexpr std::uint32_t kBootstrapStream = 0x766f6c62u;

Json number(const std::optional<double>& value) { return value ? Json(*value) : Json(nullptr); }

Json ratio(std::size_t part, std::size_t whole) {
  return whole > 0 ? Json(static_cast<double>(part) / static_cast<double>(whole)) : Json(nullptr);
}

/// Mean of those that are defined; none of none.
class Mean {
 public:
  void add(const std::optional<double>& value) {
    if (!value) return;
    sum_ += *value;
    ++count_;
  }
  std::optional<double> value() const {
    if (count_ == 0) return std::nullopt;
    return sum_ / static_cast<double>(count_);
  }

 private:
  double sum_ = 0;
  std::size_t count_ = 0;
};

std::string sensitivity_name(double false_positives) {
  return fmt::format("sensitivity_at_{:g}", false_positives);
}

Json finding_json(const LesionFinding& finding, const source::VolumeRecord& record,
                  const std::array<double, 3>& level0_per_voxel) {
  // Centre of voxel 0 is 0.5, its index 0.
  std::array<double, 3> index_xyz{};
  for (std::size_t axis = 0; axis < 3; ++axis)
    index_xyz[2 - axis] = finding.centre_zyx[axis] * level0_per_voxel[axis] - 0.5;
  Json centre = Json::array();
  for (std::size_t row = 0; row < 3; ++row) {
    const double* m = record.affine_lps.data() + 4 * row;
    centre.push_back(m[0] * index_xyz[0] + m[1] * index_xyz[1] + m[2] * index_xyz[2] + m[3]);
  }
  return {{"voxels", finding.voxels},
          {"volume_mm3", finding.volume_mm3},
          {"centre_lps_mm", std::move(centre)},
          {"overlap", finding.overlap}};
}

}  // namespace

std::vector<std::uint8_t> lesion_class_values(const source::Cohort& cohort,
                                              const loader::RunConfig& config) {
  const auto& classes = cohort.classes();
  std::vector<std::uint8_t> out;
  if (config.task != "colorectal") return out;
  for (const std::string& name : config.eval.lesion_classes) {
    const auto found = std::find(classes.begin(), classes.end(), name);
    if (found == classes.end() || found == classes.begin()) {
      fail(ErrorCode::usage,
           "eval.lesion_classes: '{}' is not a class above 0 of the store; there are {}.", name,
           fmt::join(classes.begin() + 1, classes.end(), ", "));
    }
    out.push_back(static_cast<std::uint8_t>(found - classes.begin()));
  }
  for (std::size_t c = 1; c < classes.size() && config.eval.lesion_classes.empty(); ++c)
    out.push_back(static_cast<std::uint8_t>(c));
  return out;
}

VolumeTally::VolumeTally(const source::Cohort& cohort, const loader::RunConfig& config)
    : cohort_(cohort), config_(config) {
  const auto& eval = config.eval;
  const auto& classes = cohort.classes();
  rules_ = {classes.size(),          eval.surface_tolerance_mm, lesion_class_values(cohort, config),
            eval.lesion_probability, eval.lesion_min_mm3,       eval.lesion_overlap};
  names_.push_back({"", "mean_dice"});
  for (const std::string& name : classes) names_.push_back({"dice", name});
  for (const char* group : {"surface_dice", "hd95"}) {
    for (std::size_t c = 1; c < classes.size(); ++c) names_.push_back({group, classes[c]});
  }
  if (rules_.lesion_classes.empty()) return;
  names_.push_back({"lesion", "froc"});
  for (const double at : kFrocFalsePositives) names_.push_back({"lesion", sensitivity_name(at)});
}

void VolumeTally::add(std::uint32_t image, VolumeFigures figures) {
  images_.insert_or_assign(image, std::move(figures));
}

/// In the order of names_.
Figures VolumeTally::figures_of(std::span<const std::uint32_t> group) const {
  const std::size_t classes = rules_.classes;
  std::vector<Mean> dice(classes), surface(classes), hd95(classes);
  std::vector<ScanCalls> scans;
  for (const std::uint32_t image : group) {
    const VolumeFigures& volume = images_.at(image);
    for (std::size_t c = 0; c < classes; ++c) {
      dice[c].add(volume.confusion.dice(c));
      surface[c].add(volume.surface_dice[c]);
      hd95[c].add(volume.hd95_mm[c]);
    }
    if (volume.annotated()) scans.push_back(volume.scan());
  }
  Mean mean_dice;
  for (std::size_t c = 1; c < classes; ++c) mean_dice.add(dice[c].value());
  Figures out{mean_dice.value()};
  for (const Mean& mean : dice) out.push_back(mean.value());
  for (const auto* figure : {&surface, &hd95}) {
    for (std::size_t c = 1; c < classes; ++c) out.push_back((*figure)[c].value());
  }
  if (rules_.lesion_classes.empty()) return out;
  std::vector<const ScanCalls*> pointers;
  for (const ScanCalls& scan : scans) pointers.push_back(&scan);
  const Froc curve = froc(pointers);
  out.push_back(curve.mean_sensitivity());
  for (const double at : kFrocFalsePositives) out.push_back(curve.sensitivity_at(at));
  return out;
}

Json VolumeTally::intervals_json(const Group& group) const {
  std::map<std::string, Group> by_case;
  for (const std::uint32_t image : group) by_case[cohort_.images()[image].case_id].push_back(image);
  std::vector<const Group*> cases;
  for (const auto& [name, members] : by_case) cases.push_back(&members);
  if (cases.size() < 2) return Json::object();  // one case says nothing of others
  const auto resampled = [&](std::span<const std::size_t> drawn) {
    Group images;
    for (const std::size_t i : drawn)
      images.insert(images.end(), cases[i]->begin(), cases[i]->end());
    return figures_of(images);
  };
  const auto intervals = bootstrap_intervals(cases.size(), config_.eval.bootstrap,
                                             config_.sampling.seed, kBootstrapStream, resampled);
  Json out = Json::object();
  for (std::size_t f = 0; f < intervals.size(); ++f) {
    Json& place = names_[f].group.empty() ? out : out[names_[f].group];
    place[names_[f].name] = intervals[f] ? Json(*intervals[f]) : Json(nullptr);
  }
  return out;
}

Json VolumeTally::group_json(const Group& group, bool intervals) const {
  const auto& classes = cohort_.classes();
  Confusion pooled(classes.size());
  std::map<std::string, std::uint64_t> one_empty;  // volumes whose HD95 is none for that reason
  std::vector<ScanCalls> scans;
  std::map<std::string, bool> cases;
  for (const std::uint32_t image : group) {
    const VolumeFigures& volume = images_.at(image);
    pooled += volume.confusion;
    cases[cohort_.images()[image].case_id] = true;
    for (std::size_t c = 1; c < classes.size(); ++c)
      one_empty[classes[c]] += volume.surface_dice[c] && !volume.hd95_mm[c] ? 1 : 0;
    if (volume.annotated()) scans.push_back(volume.scan());
  }
  Json out = pooled.to_json(classes);
  out["pooled_dice"] = out.at("dice");
  out.erase("dice");
  out["voxels"] = out.at("pixels");
  out.erase("pixels");
  out["images"] = group.size();
  out["cases"] = cases.size();
  if (!rules_.lesion_classes.empty()) {
    std::vector<const ScanCalls*> pointers;
    for (const ScanCalls& scan : scans) pointers.push_back(&scan);
    const Froc curve = froc(pointers);
    Json points = Json::array();
    for (const auto& point : curve.curve)
      points.push_back({point.false_positives, point.sensitivity, point.score});
    out["lesion"] = {{"scans", curve.scans},
                     {"lesions", curve.lesions},
                     {"calls", curve.calls},
                     {"hits", curve.hits},
                     {"sensitivity", ratio(curve.hits, curve.lesions)},
                     {"false_positives_per_scan", ratio(curve.calls - curve.hits, curve.scans)},
                     {"curve", std::move(points)}};
  }
  const Figures figures = figures_of(group);
  for (std::size_t f = 0; f < figures.size(); ++f) {
    Json& place = names_[f].group.empty() ? out : out[names_[f].group];
    place[names_[f].name] = number(figures[f]);
  }
  out["hd95_undefined"] = one_empty;
  if (intervals && config_.eval.bootstrap > 0) out["interval_95"] = intervals_json(group);
  return out;
}

Json VolumeTally::image_json(std::uint32_t image) const {
  const source::ImageRecord& record = cohort_.images()[image];
  const VolumeFigures& figures = images_.at(image);
  const auto& classes = cohort_.classes();
  Json out = figures.confusion.to_json(classes);
  out.erase("matrix");
  out["voxels"] = out.at("pixels");
  out.erase("pixels");
  out["id"] = record.id;
  out["case"] = record.case_id;
  out["cohort"] = record.cohort;
  out["phase"] = record.volume->phase;
  for (std::size_t c = 1; c < classes.size(); ++c) {
    out["surface_dice"][classes[c]] = number(figures.surface_dice[c]);
    out["hd95"][classes[c]] = number(figures.hd95_mm[c]);
  }
  if (rules_.lesion_classes.empty()) return out;
  const auto spacing0 = loader::level_spacing_mm_zyx(record, 0, config_);
  std::array<double, 3> level0{};
  for (std::size_t axis = 0; axis < 3; ++axis)
    level0[axis] = config_.volume_patch.spacing_mm_zyx[axis] / spacing0[axis];
  out["lesions"] = out["calls"] = Json::array();
  for (const LesionFinding& lesion : figures.lesions) {
    Json json = finding_json(lesion, *record.volume, level0);
    json["hit"] = lesion.matched;
    json["score"] = lesion.matched ? Json(lesion.score) : Json(nullptr);
    out["lesions"].push_back(std::move(json));
  }
  for (const LesionFinding& call : figures.calls) {
    Json json = finding_json(call, *record.volume, level0);
    json["hit"] = call.matched;
    json["score"] = call.score;
    out["calls"].push_back(std::move(json));
  }
  return out;
}

Json VolumeTally::to_json(bool intervals) const {
  Group all;
  std::map<std::string, Group> cohorts, phases, cases;
  Json out = {{"classes", cohort_.classes()}, {"images", Json::array()}};
  for (const auto& [image, figures] : images_) {
    const source::ImageRecord& record = cohort_.images()[image];
    out["images"].push_back(image_json(image));
    for (Group* group :
         {&all, &cohorts[record.cohort], &phases[record.volume->phase], &cases[record.case_id]}) {
      group->push_back(image);
    }
  }
  out["lesion_classes"] = Json::array();
  for (const std::uint8_t value : rules_.lesion_classes)
    out["lesion_classes"].push_back(cohort_.classes()[value]);
  out["overall"] = group_json(all, intervals);
  out["cohorts"] = out["phases"] = out["cases"] = Json::object();
  for (const auto& [name, group] : cohorts) out["cohorts"][name] = group_json(group, intervals);
  for (const auto& [name, group] : phases) out["phases"][name] = group_json(group, intervals);
  for (const auto& [name, group] : cases) out["cases"][name] = group_json(group, false);
  return out;
}

double VolumeTally::mean_dice() const {
  Group all;
  for (const auto& [image, figures] : images_) all.push_back(image);
  return figures_of(all).front().value_or(0);
}

}  // namespace headrace::train
