#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "headrace/core/intensity_unit.hpp"
#include "headrace/core/json.hpp"
#include "headrace/pixels/volume/bit_morphology.hpp"

namespace headrace::ingest {

/// Counts of every stored value: percentiles, mean and standard deviation are exact and in the
/// unit, and sums over cases do not depend on their order.
class IntensityHistogram {
 public:
  explicit IntensityHistogram(IntensityUnit unit = IntensityUnit::hu)
      : unit_(unit), counts_(65536) {}

  void add(std::int16_t value) { ++counts_[static_cast<std::size_t>(value + 32768)]; }
  IntensityUnit unit() const { return unit_; }
  /// Values of one slice where the mask is set.
  void add_slice(const std::int16_t* values, std::int64_t z, const pixels::BitVolume& mask);
  void merge(const IntensityHistogram& other);
  /// Adds 65,536 counts that were made elsewhere; value v is at v + 32,768.
  void add_counts(std::span<const std::uint64_t> counts);

  std::uint64_t count() const;
  std::uint64_t count_of(std::int16_t value) const {
    return counts_[static_cast<std::size_t>(value + 32768)];
  }
  double mean() const;  ///< 0 when empty
  double std() const;   ///< of the population, as NumPy's default
  /// Percentile 0..100 with linear interpolation between order statistics, as NumPy's default. 0
  /// when empty.
  double percentile(double percent) const;

  /// {"count", "mean", "std", "percentiles": {"0.5": …, "5", "50", "95", "99.5"}}
  Json summary() const;

 private:
  double stored_mean() const;
  std::int16_t at_rank(std::uint64_t rank) const;
  /// For a stored value, or a mean of such values.
  double in_unit(double stored) const { return stored / stored_per_unit(unit_); }

  IntensityUnit unit_;
  std::vector<std::uint64_t> counts_;
};

}  // namespace headrace::ingest
