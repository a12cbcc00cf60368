#pragma once
#include <cstdint>
#include <map>
#include <string>

namespace headrace::train {

/// The state that a checkpoint keeps besides weights and optimiser. Doubles are stored as hex text,
/// so that a resumed mean equals the unbroken one to the bit.
struct TrainState {
  using Metadata = std::map<std::string, std::string>;

  std::int64_t step = 0;                         ///< finished steps
  double loss = 0, cross_entropy = 0, dice = 0;  ///< sums since the last line of metrics
  std::int64_t since_log = 0;
  double last_loss = 0;  ///< mean of the last line
  double best_dice = -1;
  std::int64_t best_step = 0;
  std::string judged_by;  ///< how `best` was found: SHA-256 of the config's data.val and eval

  Metadata save() const;
  /// Errors: malformed, naming `origin`.
  static TrainState load(const Metadata& metadata, const std::string& origin);
};

}  // namespace headrace::train
