#include "headrace/loader/plan/outside_body.hpp"

#include "headrace/cohort/body_region.hpp"
#include "headrace/core/class_sets.hpp"
#include "headrace/core/threads.hpp"
#include "headrace/loader/plan/plan_images.hpp"

namespace headrace::loader::detail {
namespace {

/// By label value.
std::vector<bool> outside_of(const cohort::Cohort& cohort, std::uint32_t image,
                             const std::string& labels) {
  std::vector<bool> out(cohort.classes().size() + cohort.class_sets().size());
  const cohort::ImageRecord& record = cohort.images()[image];
  if (!record.has_labels(labels)) return out;
  const cohort::BodyRegion region(cohort.tissue_sites(image),
                                  record.volume->levels.front().shape_zyx);
  if (region.everywhere()) return out;
  for (const cohort::SiteBlock& block : cohort.label_sites(image, labels).blocks) {
    if (block.class_value < out.size() && !out[block.class_value])
      out[block.class_value] = !region.holds(block);
  }
  return out;
}

}  // namespace

std::vector<std::string> classes_outside_body(const cohort::Cohort& cohort,
                                              const LoaderConfig& config) {
  const auto& names = cohort.classes();
  const auto images = training_images(cohort, config);
  std::vector<std::vector<bool>> found(images.size());
  ThreadPool pool(0);
  pool.parallel_for(images.size(), [&](std::size_t i) {
    found[i] = outside_of(cohort, images[i], config.data.labels);
  });
  std::vector<bool> outside(names.size());
  const auto classes = classes_by_value(names.size(), cohort.class_sets());
  for (const auto& one : found) {
    for (std::size_t value = 0; value < one.size(); ++value) {
      for (std::size_t c = 1; one[value] && c < names.size(); ++c)
        outside[c] = outside[c] || classes[value][c];
    }
  }
  std::vector<std::string> out;
  for (std::size_t c = 1; c < names.size(); ++c) {
    if (outside[c]) out.push_back(names[c]);
  }
  return out;
}

}  // namespace headrace::loader::detail
