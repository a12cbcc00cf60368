#include "learn/suggest/feature_table.hpp"

#include <algorithm>
#include <cmath>
#include <map>

namespace headrace::suggest {
namespace {

/// Makes MAD and mean absolute deviation of a normal distribution its standard deviation.
constexpr double kMadScale = 1.4826, kMeanDeviationScale = 1.2533;
constexpr double kMostDeviations = 3.5;

struct Scale {
  double middle = 0, spread = 0;

  double of(const std::optional<double>& value) const {
    if (!value) return 0;
    return std::clamp((*value - middle) / spread, -kMostDeviations, kMostDeviations);
  }
};

/// None where all values are alike.
std::optional<Scale> scale_of(const FeatureColumn& column) {
  std::vector<double> values;
  for (const auto& value : column)
    if (value) values.push_back(*value);
  if (values.empty()) return std::nullopt;
  Scale scale{median_of(values), 0};
  double sum = 0;
  for (double& value : values) {
    value = std::abs(value - scale.middle);
    sum += value;
  }
  scale.spread = kMadScale * median_of(values);
  if (scale.spread == 0)
    scale.spread = kMeanDeviationScale * sum / static_cast<double>(values.size());
  if (scale.spread == 0) return std::nullopt;
  return scale;
}

}  // namespace

double median_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

void FeatureTable::add_numbers(const std::vector<FeatureColumn>& columns) {
  std::vector<std::pair<const FeatureColumn*, Scale>> kept;
  for (const FeatureColumn& column : columns)
    if (const auto scale = scale_of(column)) kept.emplace_back(&column, *scale);
  const double weight = std::sqrt(static_cast<double>(kept.size()));
  for (const auto& [column, scale] : kept) {
    for (std::size_t i = 0; i < images_; ++i) points_[i].push_back(scale.of((*column)[i]) / weight);
  }
}

void FeatureTable::add_names(const std::vector<std::vector<std::string>>& columns) {
  const double one = 1 / std::sqrt(static_cast<double>(columns.size()));
  for (const auto& column : columns) {
    std::map<std::string, std::size_t> places;
    for (const std::string& name : column) places.emplace(name, places.size());
    for (std::size_t i = 0; i < images_; ++i) {
      std::vector<double>& point = points_[i];
      const std::size_t first = point.size();
      point.resize(first + places.size());
      point[first + places.at(column[i])] = one;
    }
  }
}

double FeatureTable::distance(std::size_t a, std::size_t b) const {
  double sum = 0;
  for (std::size_t k = 0; k < points_[a].size(); ++k) {
    const double apart = points_[a][k] - points_[b][k];
    sum += apart * apart;
  }
  return std::sqrt(sum);
}

}  // namespace headrace::suggest
