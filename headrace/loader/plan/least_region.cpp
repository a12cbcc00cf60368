#include "headrace/loader/plan/least_region.hpp"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "headrace/core/threads.hpp"
#include "headrace/loader/plan/plan_images.hpp"

namespace headrace::loader {
namespace {

constexpr double kPercentile = 0.05;

std::vector<double> regions_mm2(const cohort::Cohort& cohort, std::uint32_t image,
                                const std::string& labels) {
  const cohort::ImageRecord& record = cohort.images()[image];
  if (!record.has_mpp || !record.has_labels(labels)) return {};
  std::map<std::pair<std::uint8_t, std::uint32_t>, std::uint64_t> pixels;
  for (const cohort::SiteBlock& block : cohort.label_sites(image, labels).blocks) {
    if (block.region != cohort::kWholeClass)
      pixels[{block.class_value, block.region}] += block.pixels;
  }
  const auto [y, x] = record.levels.front().mpp_yx;
  std::vector<double> out;
  for (const auto& [region, count] : pixels)
    out.push_back(static_cast<double>(count) * y * x / 1e6);
  return out;
}

}  // namespace

std::optional<double> least_labelled_region_mm2(const cohort::Cohort& cohort,
                                                const LoaderConfig& config) {
  if (config.volumes || config.data.labels.empty()) return std::nullopt;
  const auto images = detail::training_images(cohort, config);
  std::vector<std::vector<double>> found(images.size());
  ThreadPool pool(0);
  pool.parallel_for(images.size(), [&](std::size_t i) {
    found[i] = regions_mm2(cohort, images[i], config.data.labels);
  });
  std::vector<double> all;
  for (const auto& one : found) all.insert(all.end(), one.begin(), one.end());
  if (all.empty()) return std::nullopt;
  const auto at =
      all.begin() + static_cast<std::ptrdiff_t>(kPercentile * static_cast<double>(all.size() - 1));
  std::nth_element(all.begin(), at, all.end());
  const double least = *at / 2;
  return least < kLeastRegionMm2 ? std::optional(least) : std::nullopt;
}

}  // namespace headrace::loader
