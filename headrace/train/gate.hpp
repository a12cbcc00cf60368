#pragma once
#include <optional>
#include <string>
#include <vector>

#include "headrace/core/json.hpp"
#include "headrace/core/yaml.hpp"

namespace headrace::train {

struct GateFigure {
  std::string name;  ///< path in the figures: "mean_dice", "dice.tumour", "gleason.kappa"
  double least = 0;
  std::optional<double> found;  ///< none: undefined on this split
  bool passed() const { return found && *found >= least; }
};

struct GateResult {
  std::vector<GateFigure> figures;
  bool passed() const;
  Json to_json() const;      ///< {passed, figures{name: {least, found, passed}}}
  std::string text() const;  ///< one line a figure
};

/// Which figures weights must reach to be promoted: a YAML mapping from figure to least value.
class Gate {
 public:
  Gate() = default;  ///< asks for nothing
  /// Errors: not_found, malformed, usage (not a mapping of numbers).
  static Gate load(const std::string& file);
  static Gate parse(const std::string& text, const std::string& name);
  /// `figures`: the "overall" part of eval.json. An undefined figure does not pass.
  /// Errors: usage when a figure does not exist, with the nearest name.
  GateResult check(const Json& figures) const;

 private:
  Gate(YamlMap map, std::string file);

  std::vector<std::pair<std::string, double>> least_;
  std::string file_;
};

}  // namespace headrace::train
