#pragma once
#include <array>

namespace headrace::report {

/// The sides of a picture of one plane in radiological convention: as if looking from the feet,
/// from the front, and from the left. R, L: the patient's right and left; A, P: front and back; H,
/// F: head and feet.
struct PlaneSides {
  const char *name, *left, *right, *top, *bottom;
};

/// The sides of the planes across z, y and x of a volume in canonical order (x to the left, y to
/// the back, z up): rows and columns as stored, but rows along z reversed.
inline constexpr std::array<PlaneSides, 3> kPlaneSides{{{"axial", "R", "L", "A", "P"},
                                                        {"coronal", "R", "L", "H", "F"},
                                                        {"sagittal", "A", "P", "H", "F"}}};

}  // namespace headrace::report
