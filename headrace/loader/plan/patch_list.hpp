#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "headrace/cohort/cohort.hpp"
#include "headrace/loader/config/loader_config.hpp"
#include "headrace/loader/plan/sample_plan.hpp"

namespace headrace::loader {

/// Patches of slides that a user names, instead of a plan of ours.
struct PatchList {
  struct Patch {
    std::string image;          ///< its id in the store
    std::int64_t x = 0, y = 0;  ///< of the first pixel, on level 0 (OpenSlide's convention)
  };
  /// What the list says of the size of all its patches.
  struct Size {
    std::int64_t width = 0, height = 0;  ///< in pixels of:
    std::int64_t level = 0;              ///< of the store's image
  };
  std::vector<Patch> patches;
  std::optional<Size> size;
  std::string origin;      ///< for errors: a file
  std::vector<int> lines;  ///< of the file, by patch; empty: errors count patches from 0
};

/// Reads a table (CSV) of the columns image, x and y, and where it has them width, height and level (else
/// 0), which are the same in all rows that state them; other columns are left alone.
/// Errors: not_found, malformed, usage (no such column, no rows, no whole number; several sizes), with
/// the line.
PatchList read_patch_list(const std::string& file);

/// The patches of the list, of the size and pixel size that the config states. As they are: in the
/// list's order, without random transforms, one epoch. Augmented: each epoch in an order of its own,
/// by sampling.seed, with the config's transforms.
/// Errors: unsupported (volumes), usage (an image that the store does not have, with the nearest; a patch wholly
/// outside of its image; a size that is not the config's to within 1 %, with what to set).
std::shared_ptr<const SamplePlan> make_list_plan(const cohort::Cohort& cohort,
                                                 const LoaderConfig& config, const PatchList& list,
                                                 bool augmented);

}  // namespace headrace::loader
