#include "headrace/loader/plan/plan_images.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "headrace/core/error.hpp"
#include "headrace/core/yaml.hpp"
#include "headrace/loader/plan/level_choice.hpp"

namespace headrace::loader::detail {
namespace {

std::string hint(const std::string& name, const std::set<std::string>& known) {
  const std::vector<std::string> names(known.begin(), known.end());
  const auto nearest = nearest_name(name, names);
  return nearest ? fmt::format("Did you mean '{}'?", *nearest)
                 : fmt::format("There are: {}", fmt::join(names, ", "));
}

}  // namespace

void check_kind(const cohort::Cohort& cohort, const LoaderConfig& config) {
  if (cohort.kind() != (config.volumes ? "volume" : "slide")) {
    fail(ErrorCode::usage,
         "{}: a store of {}s, but patch.size has {} numbers, which is for {}s. Give it {}",
         cohort.path(), cohort.kind(), config.volumes ? 3 : 2, config.volumes ? "volume" : "slide",
         config.volumes ? "2: height, width" : "3: z, y, x");
  }
}

std::vector<std::uint32_t> images_of_split(const cohort::Cohort& cohort, const LoaderConfig& config,
                                           const std::string& split, const std::string& key) {
  check_kind(cohort, config);
  std::vector<std::uint32_t> images;
  std::set<std::string> splits;
  for (std::size_t i = 0; i < cohort.images().size(); ++i) {
    splits.insert(cohort.images()[i].split);
    if (cohort.images()[i].split != split) continue;
    images.push_back(static_cast<std::uint32_t>(i));
    if (!config.volumes) level_mpp_yx(cohort.images()[i], 0, config);
  }
  if (images.empty()) {
    fail(ErrorCode::usage, "{}: {} is '{}', but none of the {} images is in that split. {}",
         cohort.path(), key, split, cohort.images().size(),
         splits.empty() ? "The store is empty" : hint(split, splits));
  }
  return images;
}

std::vector<std::uint32_t> training_images(const cohort::Cohort& cohort,
                                           const LoaderConfig& config) {
  std::vector<std::uint32_t> images;
  for (std::size_t i = 0; i < cohort.images().size(); ++i) {
    if (cohort.images()[i].split == config.data.train)
      images.push_back(static_cast<std::uint32_t>(i));
  }
  return images;
}

void check_near_classes(const cohort::Cohort& cohort, const LoaderConfig& config) {
  const std::set<std::string> known(cohort.classes().begin(), cohort.classes().end());
  for (const std::string& name : config.sampling.near_classes) {
    if (known.contains(name)) continue;
    fail(ErrorCode::usage,
         "{}: sampling.near_classes names '{}', which is not a class of the store. {}",
         cohort.path(), name, hint(name, known));
  }
}

void check_cohort_weights(const cohort::Cohort& cohort, const LoaderConfig& config,
                          const std::vector<std::uint32_t>& images) {
  const auto& weights = config.sampling.cohort_weights;
  if (weights.empty()) return;
  std::set<std::string> cohorts;
  for (const std::uint32_t i : images) cohorts.insert(cohort.images()[i].cohort);
  for (const auto& [name, weight] : weights) {
    if (!cohorts.contains(name)) {
      fail(ErrorCode::usage,
           "{}: sampling.cohort_weights names '{}', but no image to sample is of that cohort. {}",
           cohort.path(), name, hint(name, cohorts));
    }
  }
  for (const std::string& name : cohorts) {
    if (weights.contains(name)) continue;
    fail(ErrorCode::usage,
         "{}: sampling.cohort_weights leaves out cohort '{}'; give it a weight, 0 to leave it out",
         cohort.path(), name);
  }
}

}  // namespace headrace::loader::detail
