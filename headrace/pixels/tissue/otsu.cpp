#include "headrace/pixels/tissue/otsu.hpp"

namespace headrace::pixels {

int otsu_threshold(const std::array<std::uint64_t, 256>& histogram) {
  double total = 0, total_sum = 0;
  for (int i = 0; i < 256; ++i) {
    total += static_cast<double>(histogram[static_cast<std::size_t>(i)]);
    total_sum += static_cast<double>(histogram[static_cast<std::size_t>(i)]) * i;
  }
  int best = -1;
  double best_variance = 0, below = 0, below_sum = 0;
  for (int i = 0; i < 255; ++i) {
    below += static_cast<double>(histogram[static_cast<std::size_t>(i)]);
    below_sum += static_cast<double>(histogram[static_cast<std::size_t>(i)]) * i;
    const double above = total - below;
    if (below == 0 || above == 0) continue;
    const double difference = below_sum / below - (total_sum - below_sum) / above;
    const double variance = below * above * difference * difference;
    if (variance > best_variance) {
      best_variance = variance;
      best = i;
    }
  }
  return best;
}

}  // namespace headrace::pixels
