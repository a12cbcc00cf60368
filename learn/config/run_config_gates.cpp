#include "learn/config/figure_rules.hpp"
#include "learn/config/run_config_parts.hpp"

namespace headrace::config::detail {

Field gates_field(RunConfig& config) {
  const Form form{[&config](const YamlValue& list) { read_gates(list, config); },
                  [&config] { return config.gates.to_json(); },
                  "a list of {figure, least or most, scope, bound, worse_than_promoted}",
                  {}};
  return Field{"gates", form, "figures that the run must reach to be promoted", "none"}
      .decides_nothing()
      .written_if(!config.gates.empty());
}

void read_gates(const YamlValue& value, RunConfig& config) {
  config.gates = measure::Gate::read(value);
  // The store, and with it the classes, is not open yet: any name may be one.
  check_gates(config.gates, {"*", "*"}, config);
  for (const measure::GateEntry& entry : config.gates.entries()) {
    if (entry.bound == measure::GateBound::value || config.eval.bootstrap > 0) continue;
    value.reject(
        "a bound of an interval needs intervals, but eval.bootstrap is 0, which makes none. "
        "Give it, such as 1000, or leave `bound` out");
  }
}

}  // namespace headrace::config::detail
