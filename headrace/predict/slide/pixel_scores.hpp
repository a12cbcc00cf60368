#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace headrace::predict {

/// A probability in steps of 1/255, rounded to the nearest; values outside 0..1 become 0 or 1, and
/// NaN becomes 0.
inline std::uint8_t probability_byte(float probability) {
  if (!(probability > 0)) return 0;
  return probability < 1 ? static_cast<std::uint8_t>(probability * 255.0f + 0.5f) : 255;
}

/// Rounds the probabilities of a row's pixels, and gives their entropy.
///
/// The entropy of a pixel is -Σ p · log2(p) / log2(classes) over its rounded probabilities, in
/// steps of 1/255: 0 is certain, 255 all classes alike (what rounding adds beyond that is cut off).
/// It is found in integers, so it is the same on every machine.
/// memory  (classes + 5) bytes a pixel of a row
class PixelScores {
 public:
  explicit PixelScores(std::size_t classes);

  /// in   probabilities (classes, pixels)
  /// out  (classes + 1, pixels): the rounded probabilities and last the entropy; valid until the
  ///      next call
  std::span<const std::uint8_t> of(std::span<const float> probabilities);

 private:
  std::size_t classes_;
  std::array<std::uint32_t, 256> table_;
  std::uint64_t most_;  ///< the entropy of all classes alike, in the table's steps
  std::vector<std::uint32_t> sums_;
  std::vector<std::uint8_t> scores_;
};

}  // namespace headrace::predict
