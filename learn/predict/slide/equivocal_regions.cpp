#include "learn/predict/slide/equivocal_regions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <tuple>

namespace headrace::predict {
namespace {

/// Classes among which the second is sought.
enum class Among { others, other_tumour, not_tumour };

bool belongs(const SlideFacts& facts, Among among, const SlideRegion& region, std::size_t c) {
  if (c == region.label) return false;
  return among == Among::others || facts.tumour(c) == (among == Among::other_tumour);
}

/// The most probable of some classes, the lower of equals.
std::optional<std::size_t> most_probable(const SlideFacts& facts, Among among,
                                         const SlideRegion& region) {
  std::optional<std::size_t> best;
  for (std::size_t c = 0; c < facts.classes(); ++c) {
    if (!belongs(facts, among, region, c)) continue;
    if (!best || region.probability_sums[c] > region.probability_sums[*best]) best = c;
  }
  return best;
}

/// 1 - (first - second) / (first + second) = 2 · second / (first + second), at most 1.
double doubt_of(std::uint64_t first, std::uint64_t second) {
  if (second >= first) return 1;
  return 2 * static_cast<double>(second) / static_cast<double>(first + second);
}

std::optional<EquivocalRegion> consider(const SlideFacts& facts, Among among,
                                        const SlideRegion& region) {
  const auto second = most_probable(facts, among, region);
  if (!second) return std::nullopt;
  const auto& sums = region.probability_sums;
  std::uint64_t first_sum = sums[region.label], second_sum = sums[*second];
  EquivocalRegion found;
  if (among == Among::not_tumour) {
    found.about = DoubtAbout::tumour;
    first_sum = second_sum = 0;
    for (std::size_t c = 0; c < sums.size(); ++c)
      (facts.tumour(c) ? first_sum : second_sum) += sums[c];
  }
  const double whole = 255 * static_cast<double>(region.pixels);
  found.second = static_cast<std::uint8_t>(*second);
  found.doubt = doubt_of(first_sum, second_sum);
  found.first_probability = static_cast<double>(first_sum) / whole;
  found.second_probability = static_cast<double>(second_sum) / whole;
  return found;
}

/// The grade group if the region's area were of the second class.
int group_with_second(const SlideFacts& facts, std::vector<std::uint64_t> area_px,
                      const SlideRegion& region, std::uint8_t second) {
  area_px[region.label] -= region.pixels;
  area_px[second] += region.pixels;
  return measure::grade_from_areas(area_px, facts.rule.patterns, facts.rule.grading).grade_group;
}

/// What to tell of a region; none: its doubt isn't above the bound.
std::optional<EquivocalRegion> most_telling(const SlideFacts& facts,
                                            const std::vector<std::uint64_t>& area_px,
                                            const std::optional<CancerGrade>& cancer,
                                            const SlideRegion& region) {
  std::optional<EquivocalRegion> told;
  const auto weight = [](const EquivocalRegion& e) {
    return std::tuple(e.changes_grade(), e.doubt);
  };
  const auto take = [&](Among among) {
    auto found = consider(facts, among, region);
    if (!found || found->doubt <= facts.options.min_doubt) return;
    if (cancer) {
      found->grade_group = cancer->grade.grade_group;
      found->second_grade_group = group_with_second(facts, area_px, region, found->second);
    }
    if (!told || weight(*found) > weight(*told)) told = found;
  };
  if (facts.rule.gleason) {
    take(Among::other_tumour);
    take(Among::not_tumour);
  } else {
    take(Among::others);
  }
  return told;
}

std::string group_text(const EquivocalRegion& equivocal) {
  const int now = equivocal.grade_group, then = equivocal.second_grade_group;
  if (then == 0) return "the slide would have no cancer";
  if (now == 0) return fmt::format("the slide would have cancer of grade group {}", then);
  return fmt::format("the grade group would be {} instead of {}", then, now);
}

}  // namespace

std::vector<EquivocalRegion> find_equivocal(const SlideFacts& facts,
                                            const std::vector<std::uint64_t>& area_px_by_class,
                                            const std::vector<SlideRegion>& regions) {
  const auto cancer = cancer_grade(area_px_by_class, facts.rule);
  std::vector<EquivocalRegion> all;
  for (std::size_t i = 0; i < regions.size(); ++i) {
    if (!facts.tumour(regions[i].label)) continue;
    auto found = most_telling(facts, area_px_by_class, cancer, regions[i]);
    if (!found) continue;
    found->region = i;
    all.push_back(*found);
  }
  const auto rank = [&](const EquivocalRegion& e) {
    const double weight = e.doubt * static_cast<double>(regions[e.region].pixels);
    return std::tuple(!e.changes_grade(), -weight, e.region);
  };
  std::sort(all.begin(), all.end(),
            [&](const EquivocalRegion& a, const EquivocalRegion& b) { return rank(a) < rank(b); });
  return all;
}

std::string doubt_sentence(const EquivocalRegion& equivocal, const SlideRegion& region,
                           const SlideFacts& facts) {
  const std::string second = facts.shown_class(equivocal.second);
  const bool tumour = equivocal.about == DoubtAbout::tumour;
  const std::string first = tumour ? "tumour" : facts.shown_class(region.label);
  const std::string other =
      tumour ? fmt::format("not ({:.2f}, most likely {})", equivocal.second_probability, second)
             : fmt::format("{} ({:.2f})", second, equivocal.second_probability);
  std::string text = fmt::format("{} ({:.2f}) or {}, {}", first, equivocal.first_probability, other,
                                 facts.shown_area(region.pixels));
  if (equivocal.changes_grade()) {
    text += fmt::format("; as {} {}", second, group_text(equivocal));
  } else if (equivocal.grade_group > 0) {
    text += fmt::format("; the grade group stays {}", equivocal.grade_group);
  }
  return text;
}

}  // namespace headrace::predict
