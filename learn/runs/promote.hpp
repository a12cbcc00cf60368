#pragma once
#include <map>
#include <optional>
#include <string>

#include "learn/runs/model_registry.hpp"
#include "learn/runs/promotion_comparison.hpp"

namespace headrace::runs {

struct PromoteRequest {
  std::string run;                                ///< a run folder, or a model of a registry
  std::string name;                               ///< what the registry is to call it
  std::string registry;                           ///< its folder; made where it is absent
  std::string weights = "final";                  ///< final | best
  std::string evaluation;                         ///< file; empty: the run's own of these weights
  measure::Gate gates;                            ///< besides the run's own
  std::map<std::string, double> margins;          ///< by figure, in place of the default
  std::optional<std::string> without_comparison;  ///< why nothing is compared
  std::optional<std::string>
      with_trained_cases;         ///< why cases that were trained on may be judged by
  std::string message, by, time;  ///< for the log; time as 2026-01-31T12:00:00Z
};

struct Promotion {
  measure::GateResult gates;
  std::optional<PromotionComparison>
      comparison;     ///< none: nothing was promoted before, or asked not
  std::string model;  ///< its id; empty: not promoted
  bool promoted = false;
  bool was_already = false;  ///< the name meant this model before; nothing was added to the log
  std::string weights_sha256;
  Json to_json() const;
};

/// Puts the run's weights, and all that is needed to use them, into the registry under this name,
/// if all gates hold and no figure got worse than it may. Where something misses, nothing is
/// changed. When killed, the name means the old or the new model, whole; the next call cleans up.
///
/// errors  those of read_candidate, compare_with_promoted and Registry; usage (no gates)
Promotion promote(const PromoteRequest& request);

}  // namespace headrace::runs
