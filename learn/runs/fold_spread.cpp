#include "learn/runs/fold_spread.hpp"

#include <cmath>
#include <map>
#include <numbers>
#include <set>
#include <string>
#include <utility>

#include "learn/measure/figure_names.hpp"
#include "learn/measure/figure_table.hpp"

namespace headrace::runs {
namespace {

/// Chance that |t| is below `at`, by Simpson's rule over the angle θ with t = √n · tan θ, where the
/// density is cosⁿ⁻¹ θ.
double chance_below(double at, int degrees) {
  constexpr int kSteps = 2000;
  const double n = degrees;
  const double end = std::atan(at / std::sqrt(n)), width = end / kSteps;
  double sum = 0;
  for (int i = 0; i <= kSteps; ++i) {
    const double weight = i == 0 || i == kSteps ? 1 : i % 2 == 1 ? 4 : 2;
    sum += weight * std::pow(std::cos(i * width), n - 1);
  }
  const double scale =
      std::exp(std::lgamma((n + 1) / 2) - std::lgamma(n / 2)) / std::sqrt(std::numbers::pi);
  return 2 * scale * sum * width / 3;
}

/// The spreads of one group over folds; null where a fold lacks the group.
Json spreads_of_group(const std::vector<const Json*>& folds) {
  std::map<JsonPath, std::vector<std::optional<double>>> values;
  std::set<JsonPath> counts;  // no spread is made of how many there are
  for (std::size_t f = 0; f < folds.size(); ++f) {
    if (folds[f] == nullptr) continue;
    for (const measure::NamedFigure& figure : measure::figures_of_group(*folds[f])) {
      const measure::Figure* row = measure::find_figure(figure.name);
      if (figure.count || (row != nullptr && row->asked)) {
        counts.insert(figure.path);
        continue;
      }
      auto& of = values[figure.path];
      of.resize(folds.size());
      of[f] = figure.value;
    }
  }
  Json out = Json::object();
  for (auto& [path, of] : values) {
    if (!counts.contains(path)) put_at(out, path, spread_of(std::move(of)).to_json());
  }
  return out;
}

}  // namespace

double t_quantile_975(int degrees) {
  double low = 0, high = 20;
  for (int i = 0; i < 100; ++i) {
    const double middle = 0.5 * (low + high);
    (chance_below(middle, degrees) < 0.95 ? low : high) = middle;
  }
  return low;
}

FoldSpread spread_of(std::vector<std::optional<double>> values) {
  FoldSpread out{std::move(values), {}, {}, {}};
  double sum = 0;
  int n = 0;
  for (const auto& value : out.values) {
    if (!value) continue;
    sum += *value;
    ++n;
  }
  if (n == 0) return out;
  const double mean = sum / n;
  out.mean = mean;
  if (n < 2) return out;
  double squares = 0;
  for (const auto& value : out.values) {
    if (value) squares += (*value - mean) * (*value - mean);
  }
  out.sd = std::sqrt(squares / (n - 1));
  const double half = t_quantile_975(n - 1) * *out.sd / std::sqrt(n);
  out.t_95 = {mean - half, mean + half};
  return out;
}

Json FoldSpread::to_json() const {
  Json all = Json::array();
  for (const auto& value : values) all.push_back(or_null(value));
  return {{"values", all}, {"mean", or_null(mean)}, {"sd", or_null(sd)}, {"t_95", or_null(t_95)}};
}

Json spreads_of(const std::vector<Json>& evaluations) {
  std::set<std::string> cohorts;
  std::vector<const Json*> overall;
  for (const Json& evaluation : evaluations) {
    overall.push_back(&evaluation.at("overall"));
    for (const auto& [name, group] : evaluation.at("cohorts").items()) cohorts.insert(name);
  }
  Json out = {{"overall", spreads_of_group(overall)}, {"cohorts", Json::object()}};
  for (const std::string& name : cohorts) {
    std::vector<const Json*> groups;
    for (const Json& evaluation : evaluations)
      groups.push_back(find_at(evaluation, {"cohorts", name}));
    out["cohorts"][name] = spreads_of_group(groups);
  }
  return out;
}

}  // namespace headrace::runs
