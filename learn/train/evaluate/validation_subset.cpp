#include "learn/train/evaluate/validation_subset.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "headrace/cohort/annotation.hpp"
#include "headrace/core/error.hpp"
#include "headrace/core/sha256.hpp"
#include "learn/train/run/run_identity.hpp"

namespace headrace::train {
namespace {

/// Images of the split that have a truth, in the order of a hash of their ids.
std::vector<std::size_t> judged_images(const cohort::Cohort& cohort,
                                       const config::RunConfig& config) {
  std::vector<std::pair<std::string, std::size_t>> by_hash;
  for (std::size_t i = 0; i < cohort.images().size(); ++i) {
    const cohort::ImageRecord& image = cohort.images()[i];
    if (image.split == config.data.val && has_truth(image, config))
      by_hash.emplace_back(sha256_hex(image.id), i);
  }
  std::sort(by_hash.begin(), by_hash.end());
  std::vector<std::size_t> out;
  for (const auto& [hash, image] : by_hash) out.push_back(image);
  return out;
}

/// Of each cohort the first image that shows a class, or else its first.
std::set<std::size_t> one_of_each(const cohort::Cohort& cohort, const config::RunConfig& config,
                                  const std::vector<std::size_t>& images) {
  struct Found {
    std::size_t image;
    bool shows;
  };
  std::map<std::string, Found> found;
  for (const std::size_t i : images) {
    const auto [place, is_new] = found.try_emplace(cohort.images()[i].cohort, Found{i, false});
    if (place->second.shows) continue;
    if (annotation_of(cohort, i, config.data.labels) == cohort::Annotation::annotated)
      place->second = {i, true};
  }
  std::set<std::size_t> out;
  for (const auto& [name, of] : found) out.insert(of.image);
  return out;
}

}  // namespace

std::shared_ptr<const cohort::Cohort> validation_cohort(
    std::shared_ptr<const cohort::Cohort> cohort, const config::RunConfig& config) {
  if (config.eval.subset == 0) return cohort;
  const auto wanted = static_cast<std::size_t>(config.eval.subset);
  const std::vector<std::size_t> images = judged_images(*cohort, config);
  std::set<std::size_t> chosen = one_of_each(*cohort, config, images);
  if (chosen.size() > wanted) {
    fail(ErrorCode::usage,
         "eval.subset is {}, but split '{}' has images of {} cohorts, and each is to be judged by. "
         "Take at least {}.",
         wanted, config.data.val, chosen.size(), chosen.size());
  }
  for (const std::size_t i : images) {
    if (chosen.size() < wanted) chosen.insert(i);
  }
  std::vector<std::string> splits;
  for (std::size_t i = 0; i < cohort->images().size(); ++i) {
    const std::string& split = cohort->images()[i].split;
    const bool left_out = split == config.data.val && !chosen.contains(i);
    splits.push_back(left_out ? split + ", not in eval.subset" : split);
  }
  return cohort->with_splits(splits);
}

}  // namespace headrace::train
