#pragma once
#include <cstdint>
#include <memory>

#include "learn/config/run_config.hpp"
#include "learn/model/segmentation_net.hpp"

namespace headrace::inference {

/// The network that the config's `model` describes, with its first weights (sampling.seed).
/// channels: of the images of a run on volumes. channels_last: activations keep their channels
/// innermost, for a GPU (model/unet2d.hpp). Errors: usage (a network for the other kind of run).
std::unique_ptr<model::SegmentationNet> make_net(const config::RunConfig& config,
                                                 std::size_t classes, std::int64_t channels,
                                                 bool channels_last = false);

}  // namespace headrace::inference
