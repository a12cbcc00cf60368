#pragma once
#include <cstdint>
#include <vector>

#include "learn/inference/network.hpp"
#include "learn/inference/stitcher.hpp"

namespace headrace::inference {

/// The tiles of a batch with what a network makes of them, in its order.
void tiles_of(const loader::Batch& batch, const Network::There& predicted, std::int64_t classes,
              std::vector<TileResult>& out);

}  // namespace headrace::inference
