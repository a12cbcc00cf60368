#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "headrace/cohort/cohort.hpp"
#include "headrace/inference/network.hpp"
#include "headrace/inference/tensor_canvas.hpp"
#include "headrace/loader/config/run_config.hpp"

namespace headrace::inference {

/// The canvas for these images where the network is, if it blends there (Network::blends_there) and
/// the widest of them fits; else null, for the host's canvas. It takes at most half of the memory
/// that is free there, so that network and batches have the rest; that it does not fit is said in a
/// sentence, here and so before the first tile. most_bytes: in place of that half. Volumes are
/// taken to level 0 there (PartUse::level0 is set). cohort and config must outlive the canvas.
std::unique_ptr<Canvas> canvas_there(const Network& network, std::int64_t classes,
                                     const cohort::Cohort& cohort, const loader::RunConfig& config,
                                     std::span<const std::uint32_t> images, PartUse use,
                                     Canvas::Sink sink, std::optional<double> most_bytes = {});

}  // namespace headrace::inference
