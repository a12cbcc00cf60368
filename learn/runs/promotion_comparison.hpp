#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "learn/runs/promotion_candidate.hpp"

namespace headrace::runs {

/// One figure of one group, held against that of the model which is promoted now.
struct WorseCheck {
  std::string group;
  ComparedFigure figure;
  double margin = 0;      ///< how much worse it may be, in the figure's unit
  std::size_t cases = 0;  ///< that both were judged by; 0: not paired
  /// How much worse it is at the end of the interval that is worse; without interval, by the figures
  /// themselves. Negative: better. None: undefined in one of them.
  std::optional<double> worse_by;
  bool passed() const;
};

struct PromotionComparison {
  std::string model;  ///< the one that is promoted now
  std::vector<WorseCheck> checks;
  bool passed() const;
  /// {model, passed, figures[{figure, group, before, after, difference, interval_95?, cases, margin,
  /// worse_by, passed}]}
  Json to_json() const;
  std::string text() const;  ///< one line for each check that missed, and one for all
};

/// What a figure may be worse by where nobody says: 0.02 of figures from 0 to 1, 1 mm of distances,
/// 0.25 false positives a scan, nothing of counts.
double default_margin(const std::string& figure, bool count);

/// Holds every figure that a gate, a gate which the promoted model passed, or `margins` names, over all
/// images, in each cohort and in the groups that a gate holds, against the model that is promoted
/// now. A gate's margin holds for its groups, that of all images also where no gate of a group states
/// one. The margin is held against the end of the difference's 95 %
/// interval that is worse (non-inferiority): who says that nothing got worse must show it. Where no
/// interval can be made (fewer than ten cases; a count), the figures themselves are compared. A figure that was
/// defined and no longer is counts as worse.
///
/// What the promoted model passed its gates by, or was evaluated on later, is held against its own
/// images and digest as the candidate's is.
///
/// in      seen_allowed  whether the promoted model may be judged by cases that it was trained on; where
///                       that is not known it may, since it only makes its figures harder to reach
/// errors  usage: nothing comparable (other data or split: names the command; other rules of
///         evaluation), a figure that is none, cases that were trained on; corrupt: the evaluation of
///         the promoted model was changed
PromotionComparison compare_with_promoted(const PromotionCandidate& candidate,
                                          const RunFolder& promoted, const Json& log_line,
                                          const measure::Gate& gates,
                                          const std::map<std::string, double>& margins,
                                          bool seen_allowed = false);

}  // namespace headrace::runs
