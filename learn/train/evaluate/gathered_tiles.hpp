#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "headrace/cohort/cohort.hpp"
#include "headrace/loader/batch.hpp"
#include "learn/config/run_config.hpp"
#include "learn/ranks/gather_rows.hpp"

namespace headrace::train {

/// What the other processes of a group predict for the first one: in every round a batch of tiles
/// of each, probabilities and labels, in memory that they share (GatherRows has the rules).
class GatheredTiles {
 public:
  /// What the rows of a group of `processes` take, for images of `classes`.
  static double bytes(int processes, std::size_t classes, const config::RunConfig& config) {
    const auto tile = static_cast<double>(pixels_of(config) * (classes * sizeof(float) + 1));
    return 2.0 * (processes - 1) * static_cast<double>(config.tiles.batch) * tile;
  }
  /// A collective.
  GatheredTiles(ranks::ProcessGroup& process_group, const cohort::Cohort& cohort,
                const config::RunConfig& config)
      : pixels_(pixels_of(config)),
        floats_(cohort.classes().size() * pixels_),
        most_(static_cast<std::size_t>(config.tiles.batch)),
        rows_(process_group,
              most_ * floats_ + (most_ * pixels_ + sizeof(float) - 1) / sizeof(float)) {}

  /// Into this process's row, before the round's collective.
  void put(std::uint64_t round, std::span<const float> probabilities,
           std::span<const std::uint8_t> labels) {
    const std::span<float> row = rows_.mine(round);
    std::copy(probabilities.begin(), probabilities.end(), row.begin());
    std::memcpy(row.data() + most_ * floats_, labels.data(), labels.size());
  }
  /// (samples, classes[, depth], height, width) of a process, until the next round's collective.
  std::span<const float> probabilities(int rank, std::uint64_t round, std::size_t samples) const {
    return rows_.of(rank, round).first(samples * floats_);
  }
  /// (samples[, depth], height, width), likewise.
  const std::uint8_t* labels(int rank, std::uint64_t round) const {
    return reinterpret_cast<const std::uint8_t*>(rows_.of(rank, round).data() + most_ * floats_);
  }
  std::span<std::byte> memory() const noexcept { return rows_.bytes(); }

 private:
  static std::size_t pixels_of(const config::RunConfig& config) {
    const auto& [depth, height, width] = config.volume_patch.size_zyx;
    return static_cast<std::size_t>(config.volumes ? std::int64_t{1} * depth * height * width
                                                   : std::int64_t{1} * config.patch.height *
                                                         config.patch.width);
  }

  std::size_t pixels_, floats_;  ///< of a tile
  std::size_t most_;             ///< tiles of a batch
  ranks::GatherRows rows_;
};

}  // namespace headrace::train
