#pragma once
#include <string>

#include "learn/measure/gate.hpp"
#include "learn/train/evaluate/evaluation_figures.hpp"

namespace headrace::train {

struct EvalRequest {
  std::string run;                ///< run folder
  std::string split;              ///< empty: the run's validation split
  std::string store;              ///< empty: the run's store
  std::string weights = "final";  ///< final | best
  measure::Gate gate{};           ///< held at the end; the outcome is `gate` of the result
  /// The name of the file that the gates come from; empty: they are the run's own. The outcome of those
  /// is then `own_gate`.
  std::string gate_file{};
  std::string out{};  ///< folder to write into; empty: the run folder
};

/// Evaluates a run's weights again, on its own or on another store, and writes the result into the
/// run folder: eval.json for the final weights on the run's own split and store, else (and for a
/// promoted model, whose eval.json stays) eval-<weights>-<split>-<dataset hash>.json; beside it the
/// tables that write_evaluation names, and a new report (but of a promoted model). With `out` it is
/// always the second name, there, and the run folder stays as it is.
///
/// The run's own preprocessing is used whatever the store's splits; classes are matched by name.
/// errors  not_found (no run, no weights), io (what it is written into can't be; before it evaluates),
/// usage (no truth to evaluate with), unsupported and
/// corrupt (the run's preprocessing)
EvaluationFigures evaluate_run(const EvalRequest& request);

}  // namespace headrace::train
