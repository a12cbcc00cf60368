#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "headrace/cohort/cohort.hpp"
#include "learn/config/run_config.hpp"
#include "learn/inference/network.hpp"
#include "learn/inference/part_sender.hpp"
#include "learn/inference/tensor_mean.hpp"

namespace headrace::inference {

/// Images whose tiles are blended. Cohort and config must outlive the canvases.
struct TiledImages {
  std::int64_t classes = 0;
  const cohort::Cohort& cohort;
  const config::RunConfig& config;
  std::span<const std::uint32_t> images;
  std::int64_t batch = 0;  ///< for several networks: tiles of the largest batch
};

/// The canvas for these images where the network is, if it blends there (Network::blends_there) and
/// the widest of them fits; else null, for the host's canvas. It takes at most half of the memory
/// that is free there, so that network and batches have the rest; that it does not fit is said in a
/// sentence, here and so before the first tile. most_bytes: in place of that half. Volumes are
/// taken to level 0 there (PartUse::level0 is set).
std::unique_ptr<Canvas> canvas_there(const Network& network, const TiledImages& of, PartUse use,
                                     Canvas::Sink sink, std::optional<double> most_bytes = {});

/// The same for one network or several: `sink` gets the parts of the canvas, or of the mean of all.
struct CanvasesThere {
  std::shared_ptr<TensorMean> mean;               ///< of several
  std::vector<std::unique_ptr<Canvas>> canvases;  ///< by network; none: the host's
};
CanvasesThere canvases_there(std::span<const Network* const> networks, const TiledImages& of,
                             PartUse use, Canvas::Sink sink, std::optional<double> most_bytes = {});

}  // namespace headrace::inference
