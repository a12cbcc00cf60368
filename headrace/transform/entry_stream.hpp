#pragma once
#include <cstddef>
#include <cstdint>

#include "headrace/math/philox.hpp"
#include "headrace/transform/sample_key.hpp"

namespace headrace::transform {

/// Words that name a sample: two of key, one of counter.
struct SampleWords {
  std::uint32_t key0, key1, counter3;
};

inline SampleWords words_of(const SampleKey& key) {
  const auto low = [](std::uint64_t x) { return static_cast<std::uint32_t>(x); };
  const auto high = [](std::uint64_t x) { return static_cast<std::uint32_t>(x >> 32); };
  const auto block = math::philox4x32_10(
      math::Philox4{{low(key.index), high(key.index), low(key.epoch), high(key.epoch)}},
      low(key.seed), high(key.seed));
  return {block.v[0], block.v[1], block.v[2]};
}

/// The random numbers of one entry of the list, in order. channel: a volume's channel, where each
/// channel draws its own.
class EntryStream {
 public:
  EntryStream(const SampleWords& words, std::size_t entry, std::uint32_t channel = 0)
      : words_(words), entry_(0xFFFF0000u | static_cast<std::uint32_t>(entry)), channel_(channel) {}

  /// Uniform in [0, 1).
  double uniform() {
    if ((drawn_ & 1) == 0) {
      block_ = math::philox4x32_10(math::Philox4{{drawn_ / 2, channel_, entry_, words_.counter3}},
                                   words_.key0, words_.key1);
    }
    const int half = (drawn_++ & 1) * 2;
    return math::uniform01(block_.v[half], block_.v[half + 1]);
  }
  double between(double low, double high) { return low + (high - low) * uniform(); }
  bool chance(double probability) { return uniform() < probability; }

 private:
  SampleWords words_;
  std::uint32_t entry_, channel_, drawn_ = 0;
  math::Philox4 block_{};
};

}  // namespace headrace::transform
