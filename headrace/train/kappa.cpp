#include "headrace/train/kappa.hpp"

#include <map>

#include "headrace/train/bootstrap.hpp"

namespace headrace::train {
namespace {

constexpr std::uint32_t kBootstrapStream = 0x6b617070u;

std::optional<double> kappa_of(const std::vector<const RatedSlide*>& slides, int grades) {
  if (slides.empty()) return std::nullopt;
  const auto n = static_cast<std::size_t>(grades);
  std::vector<std::int64_t> truth(n, 0), predicted(n, 0);
  std::int64_t observed = 0;  // Σ (i - j)² over the slides: integers, so exact in any order
  for (const RatedSlide* slide : slides) {
    ++truth[static_cast<std::size_t>(slide->truth)];
    ++predicted[static_cast<std::size_t>(slide->predicted)];
    const std::int64_t apart = slide->truth - slide->predicted;
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

}  // namespace

std::optional<double> quadratic_kappa(const std::vector<RatedSlide>& slides, int grades) {
  std::vector<const RatedSlide*> all;
  for (const RatedSlide& slide : slides) all.push_back(&slide);
  return kappa_of(all, grades);
}

std::optional<std::array<double, 2>> bootstrap_kappa(const std::vector<RatedSlide>& slides,
                                                     int grades, std::int64_t resamples,
                                                     std::uint64_t seed) {
  std::map<std::string, std::vector<const RatedSlide*>> by_case;
  for (const RatedSlide& slide : slides) by_case[slide.case_id].push_back(&slide);
  std::vector<const std::vector<const RatedSlide*>*> cases;
  for (const auto& [name, members] : by_case) cases.push_back(&members);

  const auto kappa = [&](std::span<const std::size_t> drawn_cases) -> Figures {
    std::vector<const RatedSlide*> drawn;
    for (const std::size_t i : drawn_cases) {
      drawn.insert(drawn.end(), cases[i]->begin(), cases[i]->end());
    }
    return {kappa_of(drawn, grades)};
  };
  const auto intervals =
      bootstrap_intervals(cases.size(), resamples, seed, kBootstrapStream, kappa);
  return intervals.empty() ? std::nullopt : intervals.front();
}

}  // namespace headrace::train
