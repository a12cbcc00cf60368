#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "headrace/core/json.hpp"
#include "headrace/loader/loader.hpp"

namespace headrace::cli {

/// The common inputs of commands on a run config.
struct RunInputs {
  loader::RunConfig config;
  std::shared_ptr<const cohort::Cohort> cohort;
  std::shared_ptr<const loader::SamplePlan> plan;
  std::shared_ptr<const loader::Preprocessing> preprocessing;

  bool with_labels() const { return !config.data.labels.empty(); }
};

/// Reads a run config and opens its store. `split`: the tiles of that split; empty: training
/// samples. `threads` below 0 and no `device` keep the config's values. `run`: a run folder
/// whose preprocessing is used, including classes and their order; empty: it is fitted on the
/// store's training split.
RunInputs open_run(const std::string& config, const std::string& split, int threads,
                   std::optional<device::DeviceChoice> device, const std::string& run = {});

/// Shape of one sample's images: (context, 3, y, x) for slides, (channel, z, y, x) for volumes.
std::vector<std::int64_t> image_shape(const RunInputs& inputs);

/// How a loader's time was spent, for --json.
Json stall_json(const loader::StallStats& stats);

}  // namespace headrace::cli
