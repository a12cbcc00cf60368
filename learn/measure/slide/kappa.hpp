#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace headrace::measure {

/// Two ratings of one slide, each in [0, grades).
struct RatedSlide {
  int truth = 0, predicted = 0;
};

/// Quadratic weighted kappa: 1 - Σ w·O / Σ w·E, w = (i - j)² / (grades - 1)², E from the marginals.
///
/// source  Cohen, Weighted kappa, Psychological Bulletin 70, 1968; equal to scikit-learn's
///         cohen_kappa_score(weights="quadratic", labels=range(grades))
/// range   -1..1; none where it is undefined: no slides, or every rating of both is the same grade
///         (then Σ w·E is 0)
std::optional<double> quadratic_kappa(const std::vector<RatedSlide>& slides, int grades);

}  // namespace headrace::measure
