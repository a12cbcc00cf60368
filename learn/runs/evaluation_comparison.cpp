#include "learn/runs/evaluation_comparison.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <set>

#include "headrace/core/error.hpp"
#include "learn/measure/figure_names.hpp"
#include "learn/measure/paired_bootstrap.hpp"

namespace headrace::runs {
namespace {

using measure::EvaluatedImages;
using measure::FigureGroup;

/// Both as images; null with the reason where they can't be paired.
struct Pairing {
  std::shared_ptr<const EvaluatedImages> before, after;
  std::string why_not;
};

Pairing pair_of(const NamedEvaluation& before, const NamedEvaluation& after) {
  const auto text = [](const Json& json, const char* key) { return json.value(key, ""); };
  for (const auto& [key, words] : {std::pair{"dataset_hash", "dataset"}, {"split", "split"}}) {
    const std::string one = text(before.json, key), other = text(after.json, key);
    if (one != other) {
      return {nullptr, nullptr,
              fmt::format("they were judged by another {}: {} and {}", words, one.substr(0, 16),
                          other.substr(0, 16))};
    }
  }
  try {
    return {EvaluatedImages::read(before.json, before.origin),
            EvaluatedImages::read(after.json, after.origin), ""};
  } catch (const Error& error) {
    if (error.code() != ErrorCode::unsupported) throw;
    return {nullptr, nullptr, error.what()};
  }
}

std::set<std::string> images_of(const Json& evaluation) {
  std::set<std::string> out;
  for (const Json& image : evaluation.value("images", Json::array()))
    out.insert(image.at("id").get<std::string>());
  return out;
}

/// Intervals of differences; only where the images give the evaluations' own values again, or are
/// some of those that the values are of.
void put_intervals(ComparedGroup& to, const measure::PairedFigures& paired,
                   const std::vector<JsonPath>& paths) {
  to.paired_cases = paired.cases;
  const bool all = paired.cases == paired.cases_before && paired.cases == paired.cases_after;
  for (std::size_t i = 0; i < to.figures.size(); ++i) {
    ComparedFigure& figure = to.figures[i];
    const auto found =
        std::find_if(paired.figures.begin(), paired.figures.end(),
                     [&](const measure::PairedFigure& one) { return one.path == paths[i]; });
    if (found == paired.figures.end()) continue;
    if (!all) {
      figure.before = found->before;
      figure.after = found->after;
      figure.before_interval = figure.after_interval = std::nullopt;
      figure.difference = found->difference;
    } else if (!about(found->before, figure.before) || !about(found->after, figure.after)) {
      figure.not_of_images = true;
      continue;
    }
    figure.interval = found->interval;
  }
}

}  // namespace

bool about(const std::optional<double>& a, const std::optional<double>& b) {
  if (!a || !b) return !a && !b;
  return std::abs(*a - *b) <= 1e-9 * std::max(1.0, std::abs(*b));
}

bool of_same_data(const Json& before, const Json& after) {
  if (before.value("dataset_hash", "") != after.value("dataset_hash", "") ||
      before.value("split", "") != after.value("split", ""))
    return false;
  const auto one = images_of(before), other = images_of(after);
  return one.empty() || other.empty() || one == other;
}

ComparedEvaluations compare_evaluations(const NamedEvaluation& before, const NamedEvaluation& after,
                                        const std::function<bool(const std::string& kind)>& takes) {
  ComparedEvaluations out;
  const Pairing pairing = pair_of(before, after);
  out.why_not_paired = pairing.why_not;
  const auto others = measure::groups_of(after.json);
  for (const FigureGroup& one : measure::groups_of(before.json)) {
    if (one.kind == "cases" || (takes && !takes(one.kind))) continue;
    const auto other = std::find_if(others.begin(), others.end(), [&](const FigureGroup& group) {
      return group.text() == one.text();
    });
    if (other == others.end()) continue;
    ComparedGroup group{one.text(), 0, {}};
    std::vector<JsonPath> paths;
    const auto theirs = measure::figures_of_group(*other->figures);
    for (const auto& figure : measure::figures_of_group(*one.figures)) {
      const auto match = std::find_if(theirs.begin(), theirs.end(), [&](const auto& candidate) {
        return candidate.path == figure.path;
      });
      if (match == theirs.end()) continue;
      ComparedFigure both{figure.name,
                          figure.count || match->count,
                          figure.value,
                          match->value,
                          measure::interval_of(*one.figures, figure.path),
                          measure::interval_of(*other->figures, figure.path),
                          {},
                          {},
                          false};
      if (both.before && both.after) both.difference = *both.after - *both.before;
      group.figures.push_back(std::move(both));
      paths.push_back(figure.path);
    }
    if (pairing.before != nullptr) {
      put_intervals(group,
                    measure::compare_paired(*pairing.before->group(one.kind, one.name),
                                            *pairing.after->group(one.kind, one.name)),
                    paths);
    }
    if (one.kind == "overall" && pairing.before != nullptr && group.paired_cases == 0)
      out.why_not_paired = "no case was judged by both";
    out.groups.push_back(std::move(group));
  }
  return out;
}

Json ComparedEvaluations::to_json() const {
  Json out = {{"paired", why_not_paired.empty()}, {"groups", Json::object()}};
  if (!why_not_paired.empty()) out["why_not_paired"] = why_not_paired;
  for (const ComparedGroup& group : groups) {
    Json figures = Json::object();
    for (const ComparedFigure& figure : group.figures) {
      if (figure.count) continue;
      figures[figure.figure] = {{"before", or_null(figure.before)},
                                {"after", or_null(figure.after)},
                                {"before_interval_95", or_null(figure.before_interval)},
                                {"after_interval_95", or_null(figure.after_interval)},
                                {"difference", or_null(figure.difference)},
                                {"difference_interval_95", or_null(figure.interval)}};
    }
    out["groups"][group.group] = {{"paired_cases", group.paired_cases},
                                  {"figures", std::move(figures)}};
  }
  return out;
}

}  // namespace headrace::runs
