#pragma once
#include <optional>
#include <string>
#include <vector>

#include "headrace/core/json.hpp"
#include "headrace/core/yaml.hpp"

namespace headrace::measure {

struct GateFigure {
  /// Path in the figures of all images ("mean_dice", "dice.tumour"), or of a group
  /// ("cohorts.a.dice.tumour", "phases.portal-venous.lesion.froc").
  std::string name;
  std::optional<double> least, most;
  std::optional<double> found;  ///< none: undefined on this split
  bool passed() const {
    return found && (!least || *found >= *least) && (!most || *found <= *most);
  }
};

struct GateResult {
  std::vector<GateFigure> figures;
  bool passed() const;
  Json to_json() const;      ///< {passed, figures{name: {least?, most?, found, passed}}}
  std::string text() const;  ///< one line for each figure
};

/// The figures that weights must reach to be promoted: a YAML mapping from figure to least value,
/// or to {least: a, most: b}, either of which may be left out (a distance should be small).
class Gate {
 public:
  Gate() = default;  ///< asks for nothing
  /// Errors: not_found, malformed, usage (not a mapping of numbers and bounds).
  static Gate load(const std::string& file);
  static Gate parse(const std::string& text, const std::string& name);
  /// `evaluation`: eval.json. An undefined figure does not pass.
  /// Errors: usage when a figure does not exist, with the nearest name.
  GateResult check(const Json& evaluation) const;

 private:
  Gate(YamlMap map, std::string file);

  std::vector<GateFigure> asked_;  ///< found is not set
  std::string file_;
};

}  // namespace headrace::measure
