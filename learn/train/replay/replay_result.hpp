#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "headrace/core/json.hpp"
#include "learn/train/replay/known_differences.hpp"

namespace headrace::train {

/// The first thing in which a replay differs from its run.
struct ReplayDifference {
  enum class What {
    data,  ///< an object of the store that can't be read as it was written
    batch,
    loss,
    gradient_norm,
    weights,  ///< after the step
    figures   ///< a file that is made after the steps
  } what;
  std::int64_t step = 0;  ///< at which, or after how many
  std::string key;        ///< of a file: its name, and the value's place in it
  Json recorded, replayed;
  bool batch_agrees = false;  ///< of this step: it was compared

  /// Whether it may come from the data alone.
  bool may_be_data() const;
  std::string text() const;
  Json to_json() const;
};

struct ReplayResult {
  std::vector<KnownDifference> known;
  std::optional<ReplayDifference> difference;
  std::int64_t steps = 0;                 ///< compared
  std::int64_t batches = 0, weights = 0;  ///< digests compared
  std::int64_t total_steps = 0;           ///< of the whole training
  bool by_means = false;                  ///< the run has no steps.jsonl: means of metrics.jsonl
  std::vector<std::string> files;         ///< compared whole
  std::vector<std::string> notes;         ///< what could not be compared, and why
  std::string store, dataset_hash;        ///< that it read

  /// Whether the run's own config or data are others now, whatever the compared bytes say.
  bool decided_otherwise() const;
  Json to_json() const;
};

/// Which known differences explain what differs, most likely first; in words. With none, what to
/// look at.
std::vector<std::string> likely_causes(const ReplayResult& result);

}  // namespace headrace::train

namespace headrace {
template <>
inline constexpr auto kNamesOf<train::ReplayDifference::What> =
    names<train::ReplayDifference::What>({{train::ReplayDifference::What::data, "data"},
                                          {train::ReplayDifference::What::batch, "batch"},
                                          {train::ReplayDifference::What::loss, "loss"},
                                          {train::ReplayDifference::What::gradient_norm,
                                           "gradient_norm"},
                                          {train::ReplayDifference::What::weights, "weights"},
                                          {train::ReplayDifference::What::figures, "figures"}});
}  // namespace headrace
