#include "learn/runs/fold_pool.hpp"

#include <numeric>
#include <set>
#include <span>

#include "learn/measure/base/bootstrap.hpp"
#include "learn/measure/evaluated_images.hpp"

namespace headrace::runs {
namespace {

constexpr std::uint32_t kStream = 0x666f6c64u;  // "fold"

/// One evaluation with the images and cases of all.
Json together(const std::vector<Json>& evaluations) {
  Json out = evaluations.front();
  for (std::size_t f = 1; f < evaluations.size(); ++f) {
    for (const Json& image : evaluations[f].at("images")) out["images"].push_back(image);
    out["cases"].update(evaluations[f].at("cases"));
  }
  return out;
}

Json figures_of(const measure::EvaluatedCases& cases, std::int64_t resamples) {
  std::vector<std::size_t> all(cases.cases().size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  std::size_t images = 0;
  for (const auto& one : cases.cases()) images += one.images.size();
  Json out = {{"cases", all.size()}, {"images", images}};
  const auto figures = cases.figures(all);
  for (const auto& [path, value] : figures) put_at(out, path, or_null(value));
  if (all.size() < measure::kLeastCasesOfIntervals) {
    out["no_interval"] = measure::no_interval_text(all.size());
    return out;
  }
  const auto intervals = measure::bootstrap_intervals(
      all.size(), resamples, 0, kStream, [&](std::span<const std::size_t> drawn) {
        measure::Figures values;
        for (const auto& [path, value] : cases.figures(drawn)) values.push_back(value);
        return values;
      });
  out["interval_95"] = Json::object();
  for (std::size_t i = 0; i < figures.size(); ++i)
    put_at(out["interval_95"], figures[i].first, or_null(intervals[i]));
  return out;
}

}  // namespace

Json pool_folds(const std::vector<Json>& evaluations, std::int64_t resamples,
                const std::string& origin) {
  const Json all = together(evaluations);
  std::set<std::string> cohorts;
  for (const Json& image : all.at("images")) {
    if (!image.at("cohort").is_null()) cohorts.insert(image.at("cohort").get<std::string>());
  }
  const auto images = measure::EvaluatedImages::read(all, origin);
  Json out = {{"overall", figures_of(*images->group("overall", ""), resamples)},
              {"cohorts", Json::object()}};
  for (const std::string& name : cohorts)
    out["cohorts"][name] = figures_of(*images->group("cohorts", name), resamples);
  return out;
}

}  // namespace headrace::runs
