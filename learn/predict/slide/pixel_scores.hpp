#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace headrace::predict {

/// How the entropy of rounded probabilities becomes a byte: (255 · sum + half) · inverse, rounded
/// down, at most 255; the sum is over the classes' entries of the table.
struct EntropySteps {
  explicit EntropySteps(std::size_t classes);
  std::array<std::uint32_t, 256> table;
  double half;     ///< half the entropy of all classes alike in the table's steps, and a bit
  double inverse;  ///< 1 by that entropy; 0 of one class
};

/// Rounds the probabilities of a row's pixels (result::probability_byte), and gives their entropy.
///
/// The entropy of a pixel is -Σ p · log2(p) / log2(classes) over its rounded probabilities, in
/// steps of 1/255: 0 is certain, 255 all classes alike (what rounding adds beyond that is cut off).
/// It is the same on every machine. Any number of threads.
class PixelScores {
 public:
  explicit PixelScores(std::size_t classes) : classes_(classes), steps_(classes) {}

  /// in   probabilities (classes, pixels)
  /// out  (classes + 1, pixels): the rounded probabilities and last the entropy
  void of(std::span<const float> probabilities, std::span<std::uint8_t> out) const;

 private:
  std::size_t classes_;
  EntropySteps steps_;
};

}  // namespace headrace::predict
