#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace headrace::train {

/// The state that a checkpoint keeps besides weights and optimiser. Doubles are stored as hex text,
/// so that a resumed mean equals the unbroken one to the bit.
struct TrainState {
  using Metadata = std::map<std::string, std::string>;

  std::int64_t step = 0;                         ///< finished steps
  double loss = 0, cross_entropy = 0, dice = 0;  ///< sums since the last line of metrics
  std::int64_t since_log = 0;
  double last_loss = 0;                   ///< mean of the last line
  std::optional<double> best_dice = {};   ///< mean Dice of the best weights so far, where defined
  std::int64_t best_step = 0;             ///< theirs; 0: no validation had a value
  std::string judged_by = {};             ///< how `best` was found: judging_hash of the config
  std::optional<double> best_value = {};  ///< their figure of train.best; by default the mean Dice
  /// For train.patience: what a validation has to be better than, and how many in a row were not.
  std::optional<double> to_beat = {};
  std::int64_t since_better = 0;
  bool to_validate = false;  ///< the validation of this step has not come to its end

  Metadata save() const;
  /// Errors: malformed, naming `origin`.
  static TrainState load(const Metadata& metadata, const std::string& origin);
};

}  // namespace headrace::train
