#include "learn/measure/volume/group_figures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>

#include "learn/measure/base/ratio.hpp"
#include "learn/measure/figure_table.hpp"

namespace headrace::measure {
namespace {

/// Mean of the defined ones; none if none is defined.
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

template <typename Visit>
void each_volume(std::span<const CaseVolumes* const> cases, const Visit& visit) {
  for (const CaseVolumes* of : cases) {
    for (const VolumeFigures* volume : of->volumes) visit(*volume);
  }
}

/// Counts over a group.
struct Sums {
  Confusion confusion;
  Calibration calibration;
  ScoreCounts voxels;  ///< of the lesion classes' probability
  Froc froc;

  Sums(std::span<const CaseVolumes* const> cases, const GroupRules& rules)
      : confusion(rules.classes.size(), rules.untold) {
    std::vector<ScanCalls> scans;
    ScoreCounter scores;
    each_volume(cases, [&](const VolumeFigures& volume) {
      confusion += volume.confusion;
      calibration += volume.calibration;
      scores.add(volume.lesion_scores);
      if (volume.annotated()) scans.push_back(volume.scan());
    });
    if (!rules.lesions) return;
    voxels = scores.counts();
    froc = measure::froc(scans);
  }
};

/// A range of lesion sizes, by the diameter of a ball of their volume.
struct SizeRange {
  std::string name;
  double from_mm = 0, below_mm = 0;
  bool holds(const LesionFinding& lesion) const {
    const double diameter = ball_diameter_mm(lesion.volume_mm3);
    return diameter >= from_mm && diameter < below_mm;
  }
};

std::vector<SizeRange> size_ranges(const std::vector<double>& edges) {
  std::vector<SizeRange> out;
  double from = 0;
  for (const double edge : edges) {
    out.push_back({from == 0 ? fmt::format("below_{:g}_mm", edge)
                             : fmt::format("{:g}_to_{:g}_mm", from, edge),
                   from, edge});
    from = edge;
  }
  out.push_back({fmt::format("from_{:g}_mm", from), from, INFINITY});
  return out;
}

/// Annotated lesions of a range, and those that a call of at least `score` hits.
std::pair<std::uint64_t, std::uint64_t> found(std::span<const CaseVolumes* const> cases,
                                              const SizeRange& range, double score) {
  std::uint64_t all = 0, hits = 0;
  each_volume(cases, [&](const VolumeFigures& volume) {
    for (const LesionFinding& lesion : volume.lesions) {
      if (!range.holds(lesion)) continue;
      ++all;
      hits += lesion.matched && lesion.score >= score ? 1 : 0;
    }
  });
  return {all, hits};
}

/// Cases by the score of their highest call; positive are those with an annotated lesion.
ScoreCounts scores_of_cases(std::span<const CaseVolumes* const> cases) {
  std::map<std::uint16_t, ScoreCounts::Row> rows;
  for (const CaseVolumes* of : cases) {
    bool annotated = false, positive = false;
    double best = 0;
    for (const VolumeFigures* volume : of->volumes) {
      annotated |= volume->annotated();
      positive |= !volume->lesions.empty();
      if (!volume->calls.empty()) best = std::max(best, volume->calls.front().score);
    }
    if (!annotated) continue;
    ScoreCounts::Row& row = rows[score_of(static_cast<float>(best))];
    ++(positive ? row.positive : row.negative);
  }
  std::vector<ScoreCounts::Row> out;
  for (auto& [score, row] : rows) out.push_back({score, row.negative, row.positive});
  return ScoreCounts(std::move(out));
}

class Figures {
 public:
  Figures(std::span<const CaseVolumes* const> cases, const GroupRules& rules, const Sums& sums)
      : cases_(cases), rules_(rules), sums_(sums) {}

  std::vector<GroupFigure> all() {
    of_volumes();
    of_voxels();
    if (rules_.lesions) {
      of_lesions();
      of_cases();
    }
    return std::move(out_);
  }

 private:
  void add(JsonPath path, std::optional<double> value) { out_.push_back({std::move(path), value}); }

  void of_volumes() {
    const std::size_t classes = rules_.classes.size();
    const std::vector<const Figure*> rows = figures_of_volumes();
    std::vector<Mean> dice(classes);
    std::vector<std::vector<Mean>> means(rows.size(), std::vector<Mean>(classes));
    each_volume(cases_, [&](const VolumeFigures& volume) {
      for (std::size_t c = 0; c < classes; ++c) {
        dice[c].add(volume.confusion.dice(c));
        for (std::size_t r = 0; r < rows.size(); ++r) means[r][c].add((volume.*rows[r]->values)[c]);
      }
    });
    Mean mean_dice;
    for (std::size_t c = 1; c < classes; ++c) mean_dice.add(dice[c].value());
    add({"mean_dice"}, mean_dice.value());
    for (std::size_t c = 0; c < classes; ++c) {
      const std::string& name = rules_.classes[c];
      add({"dice", name}, dice[c].value());
      if (c == 0) continue;
      for (std::size_t r = 0; r < rows.size(); ++r) add(rows[r]->path(name), means[r][c].value());
    }
  }

  void of_voxels() {
    std::uint64_t right = 0;
    for (std::size_t c = 0; c < rules_.classes.size(); ++c) {
      right += sums_.confusion.at(c, c);
      add({"pooled_dice", rules_.classes[c]}, sums_.confusion.dice(c));
      add({"iou", rules_.classes[c]}, sums_.confusion.iou(c));
    }
    add({"accuracy"}, ratio(right, sums_.confusion.total()));
    add({"calibration", "ece"}, sums_.calibration.expected_error());
    add({"calibration", "brier"}, sums_.calibration.brier());
    if (!rules_.lesions) return;
    const Calibration lesion = calibration_of(sums_.voxels);
    add({"lesion", "voxel", "auc"}, area_under_roc(sums_.voxels));
    add({"lesion", "voxel", "ece"}, lesion.expected_error());
    add({"lesion", "voxel", "brier"}, lesion.brier());
  }

  void of_lesions() {
    const Froc& froc = sums_.froc;
    const auto put = [&](const std::string& name, std::optional<double> value) {
      add({"lesion", name}, value);
    };
    put("froc", froc.mean_sensitivity());
    for (const double at : kFrocFalsePositives)
      put(fmt::format("sensitivity_at_{:g}", at), froc.sensitivity_at(at));
    const Froc::Point* operating = froc.from_score(rules_.operating_score);
    const std::size_t calls = operating != nullptr ? operating->calls : 0;
    const std::size_t hits = operating != nullptr ? operating->hits : 0;
    put("sensitivity", ratio(hits, froc.lesions));
    put("precision", ratio(hits, calls));
    put("false_positives_per_scan", ratio(calls - hits, froc.scans));
    const Froc::Point* one = froc.at_most(1);
    for (const SizeRange& range : size_ranges(rules_.diameters_mm)) {
      const auto [all, seen] = found(cases_, range, rules_.operating_score);
      const auto at_one = found(cases_, range, one != nullptr ? one->score : INFINITY).second;
      add({"lesion", "by_size", range.name, "sensitivity"}, ratio(seen, all));
      add({"lesion", "by_size", range.name, "sensitivity_at_1"}, ratio(at_one, all));
    }
  }

  void of_cases() {
    const ScoreCounts scores = scores_of_cases(cases_);
    std::uint64_t hits = 0, silent = 0;
    for (const ScoreCounts::Row& row : scores.rows()) {
      const bool called =
          probability_of(row.score) >= rules_.operating_score;  // as calls are compared
      hits += called ? row.positive : 0;
      silent += called ? 0 : row.negative;
    }
    const auto put = [&](const char* name, std::optional<double> value) {
      add({"lesion", "case", name}, value);
    };
    put("auc", area_under_roc(scores));
    put("sensitivity", ratio(hits, scores.positives()));
    put("specificity", ratio(silent, scores.negatives()));
    put("sensitivity_at_specificity", sensitivity_at_specificity(scores, rules_.specificity));
  }

  std::span<const CaseVolumes* const> cases_;
  const GroupRules& rules_;
  const Sums& sums_;
  std::vector<GroupFigure> out_;
};

/// For each class but the first: on how many volumes it was found, missed, invented, or rightly
/// absent; none for untold classes.
Json structures_json(std::span<const CaseVolumes* const> cases, const GroupRules& rules) {
  Json out = Json::object();
  for (std::size_t c = 1; c < rules.classes.size(); ++c) {
    std::map<std::string, std::uint64_t> volumes{
        {"found", 0}, {"missed", 0}, {"invented", 0}, {"absent", 0}};
    each_volume(cases, [&](const VolumeFigures& volume) {
      if (const auto word = volume.structure(c)) ++volumes.at(*word);
    });
    out[rules.classes[c]] = volumes;
  }
  return out;
}

void add_lesion_counts(std::span<const CaseVolumes* const> cases, const GroupRules& rules,
                       const Sums& sums, Json& out) {
  const Froc& froc = sums.froc;
  const Froc::Point* operating = froc.from_score(rules.operating_score);
  Json points = Json::array();
  for (const auto& point : froc.curve)
    points.push_back({point.false_positives, point.sensitivity, point.score});
  out["scans"] = froc.scans;
  out["lesions"] = froc.lesions;
  out["calls"] = operating != nullptr ? operating->calls : 0;
  out["hits"] = operating != nullptr ? operating->hits : 0;
  out["curve"] = std::move(points);
  for (const SizeRange& range : size_ranges(rules.diameters_mm)) {
    const auto [all, hits] = found(cases, range, rules.operating_score);
    out["by_size"][range.name]["lesions"] = all;
    out["by_size"][range.name]["hits"] = hits;
  }
  const ScoreCounts scores = scores_of_cases(cases);
  out["case"]["positive"] = scores.positives();
  out["case"]["negative"] = scores.negatives();
  out["voxel"] = calibration_of(sums.voxels).to_json();
}

}  // namespace

double ball_diameter_mm(double volume_mm3) { return std::cbrt(6 * volume_mm3 / std::numbers::pi); }

std::vector<GroupFigure> group_figures(std::span<const CaseVolumes* const> cases,
                                       const GroupRules& rules) {
  const Sums sums(cases, rules);
  return Figures(cases, rules, sums).all();
}

Json group_json(std::span<const CaseVolumes* const> cases, const GroupRules& rules) {
  const Sums sums(cases, rules);
  Json out = {{"voxels", sums.confusion.total()},
              {"matrix", sums.confusion.to_json(rules.classes).at("matrix")},
              {"calibration", sums.calibration.to_json()},
              {"structures", structures_json(cases, rules)},
              {"cases", cases.size()}};
  std::uint64_t images = 0, set_voxels = 0;
  each_volume(cases, [&](const VolumeFigures& volume) {
    ++images;
    set_voxels += volume.set_voxels;
  });
  out["images"] = images;
  out["set_voxels"] = set_voxels;
  for (const auto& [name, counts] : out.at("structures").items()) {
    out["hd95_undefined"][name] =
        counts.at("missed").get<std::uint64_t>() + counts.at("invented").get<std::uint64_t>();
  }
  if (rules.lesions) add_lesion_counts(cases, rules, sums, out["lesion"]);
  for (const GroupFigure& figure : Figures(cases, rules, sums).all())
    put_at(out, figure.path, or_null(figure.value));
  return out;
}

}  // namespace headrace::measure
