#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "headrace/core/json.hpp"
#include "headrace/loader/loader.hpp"

namespace headrace::cli {

/// What commands on a run config start from.
struct RunInputs {
  loader::RunConfig config;
  std::shared_ptr<const source::Cohort> cohort;
  std::shared_ptr<const loader::SamplePlan> plan;
  std::shared_ptr<const loader::Preprocessing> preprocessing;

  bool with_labels() const { return !config.data.labels.empty(); }
};

/// Reads a run config and opens its store. `split`: the tiles of that split; empty: training
/// samples. `threads` below 0 and an empty `device` leave the config's own. `run`: a run folder
/// whose preprocessing is taken, classes and their order included; empty: it is fitted on the
/// store's training split.
RunInputs open_run(const std::string& config, const std::string& split, int threads,
                   const std::string& device, const std::string& run = {});

/// Shape of one sample's images: (context, 3, y, x) of slides, (channel, z, y, x) of volumes.
std::vector<std::int64_t> image_shape(const RunInputs& inputs);

/// Where the time of a loader went, for --json.
Json stall_json(const loader::StallStats& stats);

}  // namespace headrace::cli
