#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "headrace/imaging/note.hpp"
#include "headrace/imaging/volume/slice_places.hpp"
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
  /// Of the slices that the stack gives: of an even one that between its ends, else the finest step
  /// that recurs, of which the others are whole multiples where any is.
  double spacing_mm = 0;
  double off_mm = 0;  ///< the most that a slice of an even stack lies off the fitted places
  /// For each slice the one of the even grid that it stands for; several where slices are doubled.
  std::vector<std::int64_t> index;
  /// Whether all slices lie on the grid, so that none has to be interpolated.
  bool on_grid = false;
  double tilt_deg = 0;               ///< angle between the stack's axis and the slices' normal
  std::vector<std::size_t> doubled;  ///< slice i lies where slice i - 1 does
  std::vector<Note> faults;          ///< the notes of a resampled stack; missing slices come first

  bool regular() const { return faults.empty(); }  ///< even and upright
};

/// Parts of the spacing that a slice may lie off the fitted places, for positions that are not
/// rounded.
inline constexpr double kFitTolerance = 0.05;
inline constexpr double kShiftTolerancePx = 0.1;  ///< pixels, for each slice's shift in its plane

/// Finds missing, doubled and unevenly spaced slices and gantry tilt. Slices are judged against the
/// even places that fit all of them best, not step by step: rounded positions are even, and steps
/// that are each a little too long are not. stated_mm: the distance that the headers state; where
/// the fit agrees with it, positions may be rounded more coarsely.
StackFindings examine_stack(const std::vector<SlicePlace>& places, double pixel_mm,
                            std::optional<double> stated_mm = {});

/// Where the slices lie, against the grid that the stack gives.
SlicePlaces places_on_grid(const std::vector<SlicePlace>& places, const StackFindings& findings);

/// The faults as clauses of one sentence. names[i] stands for slice i.
std::string text_of(const StackFindings& findings, const std::vector<std::string>& names);

Vec3 cross(const Vec3& a, const Vec3& b);
double dot(const Vec3& a, const Vec3& b);

}  // namespace headrace::imaging
