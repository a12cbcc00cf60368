#include "headrace/imaging/volume/whole_values.hpp"

#include <algorithm>

#include "headrace/core/error.hpp"

namespace headrace::imaging {

std::uint16_t WholeValues::take_off(double value, std::int64_t x, std::int64_t y, std::int64_t z) {
  const double whole = std::nearbyint(value), off = std::abs(value - whole);
  if (off <= kWholeTolerance && whole >= 0 && whole <= 65535) {
    ++rounded_;
    furthest_ = std::max(furthest_, off);
    return static_cast<std::uint16_t>(whole);
  }
  if (bad_++ == 0) {
    first_bad_ = value;
    x_ = x;
    y_ = y;
    z_ = z;
  }
  return 0;
}

void WholeValues::check() const {
  if (bad_ == 0) return;
  fail(ErrorCode::malformed,
       "label at voxel (x {}, y {}, z {}) is {}, expected a whole number in 0..65535 (a class, not "
       "a probability); {} voxels have no such value.",
       x_, y_, z_, first_bad_, bad_);
}

std::vector<Note> WholeValues::notes() const {
  if (rounded_ == 0) return {};
  return {make_note(NoteCode::labels_rounded, {static_cast<double>(rounded_), furthest_})};
}

}  // namespace headrace::imaging
