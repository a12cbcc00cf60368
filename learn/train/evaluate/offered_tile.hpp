#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "headrace/loader/batch.hpp"

namespace headrace::train {

/// A tile that may become a picture. Its labels are on the host; the rest is fetched from where it
/// is only if somebody asks.
struct OfferedTile {
  loader::SampleSite site;
  std::span<const std::uint8_t> truth;                ///< ([depth, ]height, width)
  std::function<loader::Batch()> images;              ///< a batch of it alone, on the host
  std::function<std::vector<float>()> probabilities;  ///< (classes[, depth], height, width)
};

/// Sample `sample` of a batch as a batch of its own, in the same memory.
loader::Batch sample_of(const loader::Batch& batch, std::int64_t sample);

}  // namespace headrace::train
