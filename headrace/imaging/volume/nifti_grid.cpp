#include <cmath>

#include "headrace/core/error.hpp"
#include "headrace/imaging/volume/nifti_header.hpp"

namespace headrace::imaging {
namespace {

/// 3×4, row-major, RAS. In float32, as in ITK, so that origin and direction are the same numbers.
using Form = std::array<float, 12>;

constexpr double kOrthonormal = 1e-4;  ///< ITK's tolerances
constexpr double kSameElement = 1e-5, kSameOffset = 1e-7;
constexpr double kScaleTolerance = 1e-3;

double column_length(const Form& form, int column) {
  const double x = form[column], y = form[4 + column], z = form[8 + column];
  return std::sqrt(x * x + y * y + z * z);
}

/// nifti1_io.c, nifti_quatern_to_mat44.
Form qform_of(const NiftiHeader& h) {
  double b = h.quaternion_bcd[0], c = h.quaternion_bcd[1], d = h.quaternion_bcd[2];
  double a = 1 - (b * b + c * c + d * d);
  if (a < 1e-7) {
    a = 1 / std::sqrt(b * b + c * c + d * d);
    b *= a;
    c *= a;
    d *= a;
    a = 0;
  } else {
    a = std::sqrt(a);
  }
  const double dx = h.pixdim_xyz[0] > 0 ? h.pixdim_xyz[0] : 1;
  const double dy = h.pixdim_xyz[1] > 0 ? h.pixdim_xyz[1] : 1;
  const double dz = (h.pixdim_xyz[2] > 0 ? h.pixdim_xyz[2] : 1) * (h.qfac < 0 ? -1 : 1);
  const std::array<double, 12> m{(a * a + b * b - c * c - d * d) * dx,
                                 2 * (b * c - a * d) * dy,
                                 2 * (b * d + a * c) * dz,
                                 h.qoffset_ras[0],
                                 2 * (b * c + a * d) * dx,
                                 (a * a + c * c - b * b - d * d) * dy,
                                 2 * (c * d - a * b) * dz,
                                 h.qoffset_ras[1],
                                 2 * (b * d - a * c) * dx,
                                 2 * (c * d + a * b) * dy,
                                 (a * a + d * d - c * c - b * b) * dz,
                                 h.qoffset_ras[2]};
  Form form{};
  for (int i = 0; i < 12; ++i) form[i] = static_cast<float>(m[i]);
  return form;
}

Form sform_of(const NiftiHeader& h) {
  Form form{};
  for (int i = 0; i < 12; ++i) form[i] = static_cast<float>(h.srow_ras[i]);
  return form;
}

bool orthonormal(const Form& form) {
  std::array<double, 9> unit{};
  for (int column = 0; column < 3; ++column) {
    const double length = column_length(form, column);
    if (!(length > 0) || !std::isfinite(length)) return false;
    for (int row = 0; row < 3; ++row) unit[3 * row + column] = form[4 * row + column] / length;
  }
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) {
      double dot = 0;
      for (int k = 0; k < 3; ++k) dot += unit[3 * i + k] * unit[3 * j + k];
      if (std::abs(dot - (i == j ? 1 : 0)) > kOrthonormal) return false;
    }
  }
  return true;
}

bool same_elements(const Form& s, const Form& q) {
  double offset = 0;
  for (int i = 0; i < 12; ++i) {
    if (i % 4 == 3) {
      offset += std::abs(static_cast<double>(s[i]) - q[i]);
    } else if (std::abs(static_cast<double>(s[i]) - q[i]) > kSameElement) {
      return false;
    }
  }
  return offset <= kSameOffset;
}

/// ITK compares the factors of two singular value decompositions; unit columns, lengths and offsets
/// are equivalent.
bool very_similar(const Form& s, const Form& q) {
  for (int column = 0; column < 3; ++column) {
    const double ls = column_length(s, column), lq = column_length(q, column);
    if (std::abs(ls - lq) > kOrthonormal) return false;
    for (int row = 0; row < 3; ++row) {
      if (std::abs(s[4 * row + column] / ls - q[4 * row + column] / lq) > kOrthonormal)
        return false;
    }
  }
  for (int i = 3; i < 12; i += 4) {
    if (std::abs(static_cast<double>(s[i]) - q[i]) > kOrthonormal) return false;
  }
  return true;
}

bool prefer_sform(const NiftiHeader& h, const Form& s, const Form& q) {
  if (h.sform_code <= 0) return false;
  if (h.qform_code > 0 && same_elements(s, q)) return true;
  if (!orthonormal(s)) return false;
  return h.qform_code <= 0 || h.sform_code == 1 || very_similar(s, q);
}

VolumeGrid grid_of(const NiftiHeader& h, const Form& form, const Vec3& spacing_mm) {
  std::array<double, 9> direction{};
  Vec3 origin{};
  for (int row = 0; row < 3; ++row) {
    const double sign = row < 2 ? -1 : 1;  // RAS to LPS
    origin[row] = sign * form[4 * row + 3] * h.mm_per_unit;
    for (int column = 0; column < 3; ++column) {
      direction[3 * row + column] = sign * form[4 * row + column] / column_length(form, column);
    }
  }
  return VolumeGrid::of(h.shape_zyx, spacing_mm, origin, direction);
}

}  // namespace

VolumeGrid nifti_grid(const NiftiHeader& h, const std::string& path, std::vector<Note>& notes) {
  Vec3 spacing_mm{};
  for (int i = 0; i < 3; ++i) {
    spacing_mm[i] = std::abs(h.pixdim_xyz[i]) * h.mm_per_unit;
    if (!(spacing_mm[i] > 1e-6 && spacing_mm[i] < 1e6)) {
      fail(ErrorCode::malformed, "{}: voxel size {} mm along axis {}, expected 1e-6..1e6.", path,
           spacing_mm[i], i);
    }
  }
  if (h.qform_code <= 0 && h.sform_code <= 0) {
    notes.push_back(make_note(NoteCode::nifti_without_form));
    return VolumeGrid::of(h.shape_zyx, spacing_mm, {0, 0, 0}, {1, 0, 0, 0, 1, 0, 0, 0, 1});
  }
  const Form s = sform_of(h), q = qform_of(h);
  if (h.qform_code > 0 && h.sform_code > 0 && !very_similar(s, q) && !same_elements(s, q))
    notes.push_back(make_note(NoteCode::nifti_forms_disagree));
  if (prefer_sform(h, s, q)) {
    for (int column = 0; column < 3; ++column) {
      if (std::abs(column_length(s, column) * h.mm_per_unit - spacing_mm[column]) >
          kScaleTolerance) {
        notes.push_back(make_note(NoteCode::nifti_pixdim_differs));
        break;
      }
    }
    return grid_of(h, s, spacing_mm);
  }
  if (h.qform_code <= 0) {
    fail(ErrorCode::unsupported,
         "{}: the sform (code {}) is skewed and there is no qform, expected perpendicular axes. "
         "Resample the volume to an "
         "orthogonal grid.",
         path, h.sform_code);
  }
  return grid_of(h, q, spacing_mm);
}

}  // namespace headrace::imaging
