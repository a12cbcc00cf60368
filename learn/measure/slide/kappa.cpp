#include "learn/measure/slide/kappa.hpp"

#include <cstddef>

namespace headrace::measure {

std::optional<double> quadratic_kappa(const std::vector<RatedSlide>& slides, int grades) {
  if (slides.empty()) return std::nullopt;
  const auto n = static_cast<std::size_t>(grades);
  std::vector<std::int64_t> truth(n, 0), predicted(n, 0);
  std::int64_t observed = 0;  // Σ (i - j)² over the slides: integers, so exact in any order
  for (const RatedSlide& slide : slides) {
    ++truth[static_cast<std::size_t>(slide.truth)];
    ++predicted[static_cast<std::size_t>(slide.predicted)];
    const std::int64_t apart = slide.truth - slide.predicted;
    observed += apart * apart;
  }
  std::int64_t expected = 0;  // the same by chance, times the number of slides
  for (int i = 0; i < grades; ++i) {
    for (int j = 0; j < grades; ++j) {
      expected += static_cast<std::int64_t>(i - j) * (i - j) * truth[static_cast<std::size_t>(i)] *
                  predicted[static_cast<std::size_t>(j)];
    }
  }
  if (expected == 0) return std::nullopt;
  return 1.0 - static_cast<double>(observed) * static_cast<double>(slides.size()) /
                   static_cast<double>(expected);
}

}  // namespace headrace::measure
