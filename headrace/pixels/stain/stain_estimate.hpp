#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "headrace/core/enum_names.hpp"
#include "headrace/pixels/passes/stain_sums.hpp"

namespace headrace::pixels {

/// Which pixels count as stained, since the published implementations disagree. Optical density
/// (OD) as in core/image_colour.hpp; both take percentiles 1 and 99 of the angle and 99 of the
/// concentrations.
enum class StainVariant {
  macenko_log10_any,  ///< any channel with base-10 OD above 0.15 (the paper's logarithm; cuCIM)
  macenko_ln_all      ///< every channel with natural-log OD above 0.15 (torchstain, MONAI)
};
}  // namespace headrace::pixels

namespace headrace {
template <>
inline constexpr auto kNamesOf<pixels::StainVariant> =
    names<pixels::StainVariant>({{pixels::StainVariant::macenko_log10_any, "macenko-log10-any"},
                                 {pixels::StainVariant::macenko_ln_all, "macenko-ln-all"}});
}  // namespace headrace

namespace headrace::pixels {

/// Sums over stained pixels, in integers: adding them up in any order gives the same.
struct OdMoments {
  std::uint64_t pixels = 0;
  std::array<std::uint64_t, 3> sum{};      ///< of OD in units of 2^-13, one a channel
  std::array<std::uint64_t, 6> product{};  ///< of OD·OD in units of 2^-26: rr rg rb gg gb bb

  void merge(const OdMoments& other) noexcept;
  std::array<double, 3> mean() const;        ///< zeros without pixels
  std::array<double, 3> std() const;         ///< population standard deviation
  std::array<double, 6> covariance() const;  ///< population covariance, upper triangle by rows
};

/// The part of ImageColour that is estimated from a slide.
struct StainEstimate {
  std::array<double, 6>
      stain_od_rgb_he{};  ///< (3, 2) row-major: unit OD vectors, haematoxylin first
  std::array<double, 2> max_concentration{};  ///< 99th percentile of each stain's concentration
};

/// Estimates stain vectors and OD statistics of one slide from its tissue pixels, in one pass of
/// bounded memory (8 MiB).
///
/// All accumulators are integers, so any split of the pixels over threads, merged in any order,
/// gives the same result. Moments are exact; percentiles are those of a 64×64×64 colour histogram
/// that holds each bin's mean OD.
///
/// source  Macenko et al., A method for normalizing histology slides for quantitative analysis.
/// ISBI 2009 threads one accumulator for each thread, then merge
class StainAccumulator {
 public:
  explicit StainAccumulator(StainVariant variant = StainVariant::macenko_log10_any);

  /// Adds `pixels` interleaved RGB pixels; where `mask` is given only those with a non-zero byte.
  void add(const std::uint8_t* rgb, std::int64_t pixels, const std::uint8_t* mask = nullptr);
  /// Adds kStainTotals sums (stain/stain_sums.hpp) that were made elsewhere by the rule of
  /// this variant. Errors: usage, for another number of sums.
  void add_totals(std::span<const std::uint64_t> totals);
  /// Errors: usage, for another variant.
  void merge(const StainAccumulator& other);

  StainVariant variant() const noexcept { return variant_; }
  const OdMoments& moments() const noexcept { return moments_; }
  /// Nothing when fewer than 1,000 pixels are stained, or when they do not show two stains (all of
  /// one hue).
  std::optional<StainEstimate> estimate() const;

 private:
  struct Bin {
    std::uint64_t pixels = 0;
    std::array<std::uint64_t, 3> od_sum{};  // units of 2^-13
  };

  StainVariant variant_;
  OdMoments moments_;
  std::vector<Bin> bins_;  // 6 bits a channel, R highest
};

/// The rule by which a variant takes pixels, and the OD of 8-bit values.
const StainRule& stain_rule(StainVariant variant) noexcept;

/// OD of an 8-bit value in units of 2^-13.
std::uint32_t od_fixed13(std::uint8_t value) noexcept;

}  // namespace headrace::pixels
