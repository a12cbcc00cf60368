#pragma once
#include <cstdint>
#include <memory>

#include "headrace/loader/run_config.hpp"
#include "headrace/loader/sample_plan.hpp"
#include "headrace/source/cohort.hpp"
#include "headrace/transform/graph.hpp"
#include "headrace/transform/volume/graph.hpp"

namespace headrace::loader::detail {

inline constexpr std::uint8_t kIgnoreLabel = 255;

/// What every batch of a loader is made from. Immutable.
struct Recipe {
  std::shared_ptr<const source::Cohort> cohort;
  RunConfig config;
  std::shared_ptr<const SamplePlan> plan;
  bool with_labels = false;
  std::int64_t batch = 0;         ///< samples a full batch
  transform::Graph graph;         ///< of slides
  transform::VolumeGraph volume;  ///< of volumes

  // Shape of one sample; depth 0: slides.
  std::int64_t contexts = 1, channels = 3, depth = 0, height = 0, width = 0;

  std::int64_t plane() const;       ///< pixels or voxels of a sample
  std::size_t image_bytes() const;  ///< of one sample, all contexts
  std::size_t label_bytes() const;  ///< of one sample
  std::size_t batch_bytes() const;
};

/// Errors: usage (another dataset than expected, transforms that the data can't serve), unsupported
/// (a device that is not there), memory (the ring does not fit).
Recipe make_recipe(std::shared_ptr<const source::Cohort> cohort, const RunConfig& config,
                   std::shared_ptr<const SamplePlan> plan, bool with_labels);

}  // namespace headrace::loader::detail
