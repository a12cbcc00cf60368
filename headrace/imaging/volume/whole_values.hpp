#pragma once
#include <cmath>
#include <cstdint>
#include <vector>

#include "headrace/imaging/note.hpp"

namespace headrace::imaging {

/// How far a value of a mask may lie off a whole number: what scaling in float32 leaves.
inline constexpr double kWholeTolerance = 1e-3;

/// Takes the values of a mask as whole numbers from 0 to 65535, whatever type they are stored in,
/// and counts those that are none.
class WholeValues {
 public:
  /// The whole number of a value at a voxel; 0 for one that is none.
  std::uint16_t take(double value, std::int64_t x, std::int64_t y, std::int64_t z) {
    const double whole = std::nearbyint(value);
    if (whole == value && whole >= 0 && whole <= 65535) return static_cast<std::uint16_t>(whole);
    return take_off(value, x, y, z);
  }
  /// Errors: malformed (values that are no whole number: how many, and the first).
  void check() const;
  /// What was rounded.
  std::vector<Note> notes() const;

 private:
  std::uint16_t take_off(double value, std::int64_t x, std::int64_t y, std::int64_t z);

  std::uint64_t rounded_ = 0, bad_ = 0;
  double furthest_ = 0, first_bad_ = 0;
  std::int64_t x_ = 0, y_ = 0, z_ = 0;  ///< of the first that is none
};

}  // namespace headrace::imaging
