#pragma once
#include <array>
#include <optional>
#include <string>
#include <vector>

#include "headrace/core/enum_names.hpp"
#include "headrace/core/json.hpp"
#include "headrace/core/yaml.hpp"

namespace headrace::measure {

/// What is held against least and most: the figure itself, or an end of its interval_95.
enum class GateBound { value, lower, upper };

/// One figure that weights must reach.
struct GateEntry {
  /// Path in the figures of a group of images ("mean_dice", "dice.tumour"). With scope overall it
  /// may also stand after a group's ("cohorts.a.dice.tumour").
  std::string figure;
  /// "overall"; "each cohort" (scanner, phase, case); or one group, "cohorts.a".
  std::string scope = "overall";
  GateBound bound = GateBound::value;
  std::optional<double> least, most;
  /// How much worse than the promoted model's it may be, in the figure's unit (runs/promote.hpp).
  std::optional<double> worse_than_promoted;
  std::string location = {};  ///< "run.yaml:12": where it was stated

  /// {figure, scope, bound, least?, most?, worse_than_promoted?}
  Json to_json() const;
  bool operator==(const GateEntry& other) const { return to_json() == other.to_json(); }
};

/// An entry held against one group of images.
struct GateFigure {
  GateEntry asked;
  std::string group;            ///< "overall", "cohorts.a"; of an absent group as it was asked for
  std::string figure;           ///< its path in the group
  std::optional<double> found;  ///< what is held against the bounds; none: a miss
  std::string why;              ///< of one not found: why; of others: why without interval

  /// The figure with its group, as it is named in one word: "cohorts.a.dice.tumour".
  std::string name() const { return group == "overall" ? figure : group + "." + figure; }
  std::string text() const;  ///< one line without its end
  bool passed() const {
    return found && (!asked.least || *found >= *asked.least) &&
           (!asked.most || *found <= *asked.most);
  }
};

struct GateResult {
  std::vector<GateFigure> figures;
  bool passed() const;
  /// {passed, figures[{figure, scope, group, bound, least?, most?, found, passed, why?,
  /// no_interval?}]}
  Json to_json() const;
  std::string text() const;  ///< one line for each figure
};

/// The figures that weights must reach to be promoted.
///
/// A YAML list of {figure, least and/or most, scope, bound, worse_than_promoted}, the same under
/// the key `gates`, or a mapping from figure to its least value or to {least, most}. An undefined
/// figure, interval or an absent group is a miss. Immutable; safe from any thread.
class Gate {
 public:
  Gate() = default;  ///< asks for nothing
  /// Errors: not_found, malformed, usage (not of this form; names file, line and key; asks for
  /// nothing).
  static Gate load(const std::string& file);
  static Gate parse(const std::string& text, const std::string& name);
  static Gate read(const YamlValue& value);
  /// The list, from which `parse` makes an equal gate; an empty one where nothing is asked.
  Json to_json() const;

  const std::vector<GateEntry>& entries() const noexcept { return entries_; }
  bool empty() const noexcept { return entries_.empty(); }
  /// All that this one and the other ask, each once.
  Gate with(const Gate& other) const;

  /// Refuses figures and groups that no evaluation has, before there is one.
  ///
  /// in      known   the figures of a group; a `*` in a name stands for any class
  ///         phases  whether images have phases (volumes)
  /// errors  usage, with the place of the entry and the nearest name
  void check_names(const std::vector<std::string>& known, bool phases) const;

  /// `evaluation`: eval.json. Errors: usage when no group has such a figure, with the nearest name.
  GateResult check(const Json& evaluation) const;

 private:
  std::vector<GateEntry> entries_;
};

}  // namespace headrace::measure

namespace headrace {

template <>
inline constexpr auto kNamesOf<measure::GateBound> =
    names<measure::GateBound>({{measure::GateBound::value, "value"},
                               {measure::GateBound::lower, "lower"},
                               {measure::GateBound::upper, "upper"}});

}  // namespace headrace
