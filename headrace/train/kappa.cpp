#include "headrace/train/kappa.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "headrace/math/philox.hpp"

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

  std::vector<double> values;
  for (std::int64_t r = 0; r < resamples; ++r) {
    std::vector<const RatedSlide*> drawn;
    for (std::size_t i = 0; i < cases.size(); ++i) {
      const math::Philox4 words = math::philox4x32_10(
          math::Philox4{
              {static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(r), kBootstrapStream, 0}},
          static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32));
      const double u = math::uniform01(words.v[0], words.v[1]);
      const auto& members = *cases[static_cast<std::size_t>(u * static_cast<double>(cases.size()))];
      drawn.insert(drawn.end(), members.begin(), members.end());
    }
    if (const auto value = kappa_of(drawn, grades)) values.push_back(*value);
  }
  if (values.empty() || 2 * values.size() < static_cast<std::size_t>(resamples))
    return std::nullopt;
  std::sort(values.begin(), values.end());
  const auto quantile = [&](double q) {
    const double at = q * static_cast<double>(values.size() - 1);
    const auto low = static_cast<std::size_t>(at);
    const auto high = std::min(low + 1, values.size() - 1);
    return values[low] + (at - static_cast<double>(low)) * (values[high] - values[low]);
  };
  return std::array<double, 2>{quantile(0.025), quantile(0.975)};
}

}  // namespace headrace::train
