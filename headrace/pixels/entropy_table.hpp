#pragma once
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>

namespace headrace::pixels {

/// Parts of an entropy of one bit in which entropy_table counts.
inline constexpr double kEntropyUnit = 65536;

/// -p · log2(p) for p = 0/255 to 255/255, in steps of 1/65536 bit. No value lies so near to the
/// middle of two steps that the last bits of a machine's logarithm could decide.
inline std::array<std::uint32_t, 256> entropy_table() {
  std::array<std::uint32_t, 256> table{};
  for (std::size_t i = 1; i < table.size(); ++i) {
    const double p = static_cast<double>(i) / 255;
    table[i] = static_cast<std::uint32_t>(std::lround(-p * std::log2(p) * kEntropyUnit));
  }
  return table;
}

/// The entropy of all classes alike, log2(classes), in the table's steps; 0 of one class.
inline std::uint64_t most_entropy(std::size_t classes) {
  return static_cast<std::uint64_t>(
      std::llround(std::log2(static_cast<double>(classes)) * kEntropyUnit));
}

}  // namespace headrace::pixels
