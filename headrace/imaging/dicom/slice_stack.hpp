#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "headrace/imaging/volume/note.hpp"
#include "headrace/imaging/volume/volume_grid.hpp"

namespace headrace::imaging {

/// The place of a slice: along the normal, and its shift in the plane against the first one (along
/// rows and columns), in mm.
struct SlicePlace {
  double along_mm = 0, shift_x_mm = 0, shift_y_mm = 0;
};

/// Places of slices whose first pixels lie at `positions`. row and column: unit vectors; the normal
/// is row × column.
std::vector<SlicePlace> place_slices(const std::vector<Vec3>& positions_lps_mm, const Vec3& row,
                                     const Vec3& column);

/// The faults of a stack of slices, sorted along the normal.
struct StackFindings {
  double spacing_mm = 0;             ///< median distance of neighbours that are not doubled
  double tilt_deg = 0;               ///< angle between the stack's axis and the slices' normal
  std::vector<std::size_t> doubled;  ///< slice i lies where slice i - 1 does
  std::vector<Note> faults;          ///< the notes of a resampled stack; missing slices come first

  bool regular() const { return faults.empty(); }  ///< even and upright
};

inline constexpr double kSpacingTolerance =
    0.05;  ///< parts of the median distance, for each distance
inline constexpr double kShiftTolerancePx = 0.1;  ///< pixels, for each slice's shift in its plane

/// Finds missing, doubled and unevenly spaced slices and gantry tilt.
StackFindings examine_stack(const std::vector<SlicePlace>& places, double pixel_mm);

/// The faults as clauses of one sentence. names[i] stands for slice i.
std::string text_of(const StackFindings& findings, const std::vector<std::string>& names);

Vec3 cross(const Vec3& a, const Vec3& b);
double dot(const Vec3& a, const Vec3& b);

}  // namespace headrace::imaging
