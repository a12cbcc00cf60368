#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "headrace/cohort/cohort.hpp"
#include "headrace/loader/config/loader_config.hpp"
#include "headrace/loader/plan/preprocessing.hpp"

namespace headrace::loader {

/// The centre of one sample. All else about it follows from its key.
struct SampleSite {
  std::uint64_t index = 0;  ///< sample index in the epoch (training) or tile index (validation)
  std::uint32_t image = 0;  ///< index into Cohort::images()
  std::array<double, 2> centre_level0_yx{};
  double centre_level0_z = 0;     ///< volumes
  std::int32_t drawn_class = -1;  ///< class the sampler aimed at; -1: none
  /// Region of that class in the image, counted from 0 in the order of the index; -1: none
  std::int64_t drawn_region = -1;
  /// Validation: top left of the tile in patch-mpp pixels of the image
  std::array<std::int64_t, 2> tile_yx{};
  std::int64_t tile_z = 0;  ///< volumes: its first slice, all in voxels of patch.spacing_mm
};

/// Chooses the places of samples. Immutable; safe from any thread.
class SamplePlan {
 public:
  virtual ~SamplePlan() = default;
  virtual SampleSite site(std::uint64_t epoch, std::uint64_t index) const = 0;
  virtual std::uint64_t samples_per_epoch() const = 0;
  virtual bool random() const = 0;  ///< whether random transforms apply
  /// What its user should know about the images that it draws from; empty: nothing.
  virtual std::string remark() const { return {}; }
};

/// Training: sample i of epoch e is a pure function of (seed, e, i), in constant time: a class, an
/// image that has it (all equally likely, or by cohort weights), one of its regions (by size to the
/// power sampling.lesion_size_power), a part of the image that holds it, a position in that part.
/// Samples without an aim lie on tissue (in the body), a small part of them anywhere, and
/// sampling.near_lesions of them near lesions but not on them. With sampling.order: cover, the
/// regions of a class, and the images of samples without an aim, come in the order of permutations:
/// each once before any repeats. Images without annotation are left out, unless no image has any;
/// remark() counts them. Errors: usage, when the split holds no image, nothing of what
/// sampling.balance asks for, or no tissue.
///
/// Centres are moved so that the patch lies inside the image (sampling.keep_inside), but only as
/// far as a class that was aimed at stays in the central half of the patch.
std::shared_ptr<const SamplePlan> make_training_plan(const cohort::Cohort& cohort,
                                                     const LoaderConfig& config);

/// Validation and prediction: tiles over the tissue of each image of `split`, in a fixed order,
/// neighbours sharing `overlap`. Of volumes: over the box around the body, or, where classes are
/// predicted beyond it (Preprocessing::outside_body), over the whole volume.
enum class Beyond { body_box, whole_volume };
Beyond beyond_body(const Preprocessing& preprocessing);
std::shared_ptr<const SamplePlan> make_tile_plan(const cohort::Cohort& cohort,
                                                 const LoaderConfig& config,
                                                 const std::string& split,
                                                 Beyond beyond = Beyond::body_box);
/// The same for these images, in this order, by tissue or body alone: labels do not matter. An
/// image without tissue has no tiles.
std::shared_ptr<const SamplePlan> make_tile_plan(const cohort::Cohort& cohort,
                                                 const LoaderConfig& config,
                                                 const std::vector<std::uint32_t>& images,
                                                 Beyond beyond = Beyond::body_box);

}  // namespace headrace::loader
