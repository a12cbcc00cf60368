#pragma once
#include <cstdint>
#include <filesystem>
#include <set>
#include <string>

#include "headrace/cohort/cohort.hpp"
#include "headrace/loader/plan/preprocessing.hpp"
#include "learn/config/run_config.hpp"

namespace headrace::train {

/// Checks a run's images without reading a pixel and before anything is written: every image of
/// both splits can be made into batches, and the validation split has a truth to evaluate with.
/// Errors: usage (a split without images, with the nearest name; slides without the stain estimate
/// or the tissue colours, volumes without the body that a transform needs, named; no labels in the
/// validation split).
void check_images(const cohort::Cohort& cohort, const config::RunConfig& config,
                  const loader::Preprocessing& preprocessing);

/// Refuses images of these splits that have none of the run's channels; names the first few.
/// Errors: usage.
void check_channels(const cohort::Cohort& cohort, const loader::Preprocessing& preprocessing,
                    const std::set<std::string>& splits);

/// Refuses images of different splits that have the same pixels, unless data.same_pixels takes them;
/// those of one split are said. By the hashes in the store's lists. Errors: usage.
void check_same_pixels(const cohort::Cohort& cohort, const config::RunConfig& config);

/// Checks that the disk has room for the most that the run folder `out` will hold: so many
/// checkpoints and the one being written, and two files of weights.
/// Errors: io, with both numbers.
void check_disk(const std::filesystem::path& out, std::uint64_t checkpoint_bytes,
                std::uint64_t weights_bytes, std::int64_t checkpoints = 2);

}  // namespace headrace::train
