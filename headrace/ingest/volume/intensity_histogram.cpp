#include "headrace/ingest/volume/intensity_histogram.hpp"

#include <cmath>

#include "headrace/core/error.hpp"

namespace headrace::ingest {

void IntensityHistogram::add_slice(const std::int16_t* values, std::int64_t z,
                                   const pixels::BitVolume& mask) {
  const std::int64_t height = mask.shape_zyx()[1], width = mask.shape_zyx()[2];
  for (std::int64_t y = 0; y < height; ++y, values += width) {
    const std::uint64_t* row = mask.row(z, y);
    for (std::int64_t w = 0; w < mask.words_per_row(); ++w) {
      for (std::uint64_t bits = row[w]; bits != 0; bits &= bits - 1)
        add(values[64 * w + std::countr_zero(bits)]);
    }
  }
}

void IntensityHistogram::merge(const IntensityHistogram& other) {
  for (std::size_t i = 0; i < counts_.size(); ++i) counts_[i] += other.counts_[i];
}

void IntensityHistogram::add_counts(std::span<const std::uint64_t> counts) {
  if (counts.size() != counts_.size()) {
    fail(ErrorCode::usage, "a histogram is {} counts, not {}", counts_.size(), counts.size());
  }
  for (std::size_t i = 0; i < counts_.size(); ++i) counts_[i] += counts[i];
}

std::uint64_t IntensityHistogram::count() const {
  std::uint64_t sum = 0;
  for (const std::uint64_t n : counts_) sum += n;
  return sum;
}

double IntensityHistogram::stored_mean() const {
  std::int64_t sum =
      0;  // |value| ≤ 2^15 and at most 2^33 voxels a case: room for thousands of cases
  for (std::size_t i = 0; i < counts_.size(); ++i) {
    sum += (static_cast<std::int64_t>(i) - 32768) * static_cast<std::int64_t>(counts_[i]);
  }
  const std::uint64_t n = count();
  return n == 0 ? 0 : static_cast<double>(sum) / static_cast<double>(n);
}

double IntensityHistogram::mean() const { return in_unit(stored_mean()); }

double IntensityHistogram::std() const {
  const std::uint64_t n = count();
  if (n == 0) return 0;
  const double middle = stored_mean();
  double sum = 0;  // in order of value: the same for any order of voxels
  for (std::size_t i = 0; i < counts_.size(); ++i) {
    const double off = static_cast<double>(i) - 32768 - middle;
    sum += off * off * static_cast<double>(counts_[i]);
  }
  return in_unit(std::sqrt(sum / static_cast<double>(n)));
}

std::int16_t IntensityHistogram::at_rank(std::uint64_t rank) const {
  std::uint64_t below = 0;
  for (std::size_t i = 0; i < counts_.size(); ++i) {
    below += counts_[i];
    if (rank < below) return static_cast<std::int16_t>(static_cast<int>(i) - 32768);
  }
  return 0;
}

double IntensityHistogram::percentile(double percent) const {
  const std::uint64_t n = count();
  if (n == 0) return 0;
  const double place = percent / 100 * static_cast<double>(n - 1);
  const auto low = static_cast<std::uint64_t>(place);
  const double a = at_rank(low), b = at_rank(low + 1 < n ? low + 1 : low);
  return in_unit(a + (b - a) * (place - static_cast<double>(low)));
}

Json IntensityHistogram::summary() const {
  return {{"count", count()},
          {"mean", mean()},
          {"std", std()},
          {"percentiles",
           {{"0.5", percentile(0.5)},
            {"5", percentile(5)},
            {"50", percentile(50)},
            {"95", percentile(95)},
            {"99.5", percentile(99.5)}}}};
}

}  // namespace headrace::ingest
