#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "headrace/core/dtype.hpp"
#include "headrace/imaging/note.hpp"
#include "headrace/imaging/volume/volume_grid.hpp"

namespace headrace::imaging {

/// The numbers of a NIfTI-1 or NIfTI-2 header (nifti.nimh.nih.gov: nifti1.h, nifti2.h). Text
/// fields, which may name a patient, are not read.
struct NiftiHeader {
  bool swapped = false;  ///< the byte order is not this machine's
  std::array<std::int64_t, 3> shape_zyx{};
  DType dtype = DType::int16;
  std::uint64_t data_offset = 0;
  double slope = 1,
         intercept =
             0;  ///< value = slope · stored + intercept; 1 and 0 where the header says "none"
  Vec3 pixdim_xyz{1, 1, 1};  ///< as stored, in the header's unit
  double mm_per_unit = 1;
  int qform_code = 0, sform_code = 0;
  Vec3 quaternion_bcd{}, qoffset_ras{};
  double qfac = 1;
  std::array<double, 12> srow_ras{};  ///< 3×4, row-major: voxel index (x, y, z) → RAS
};

inline constexpr std::size_t kNiftiHeaderBytes = 540;  ///< the larger of the two

/// Whether the bytes start with a NIfTI-1 or -2 header in either byte order.
bool is_nifti_header(std::span<const std::byte> bytes);

/// Errors: malformed (also: a size, form or scale that is used is not finite), unsupported (complex,
/// RGB, several volumes in one file, header and data apart); each names the file.
NiftiHeader parse_nifti_header(std::span<const std::byte> bytes, const std::string& path);

/// The grid, by ITK's rule (itkNiftiImageIO.cxx, SetImageIOOrientationFromNIfTI, ITK 5.4), so that
/// a world point maps to the same voxel: the sform when it has no skew and (qform unknown | sform
/// is "scanner" | both agree to 1e-4), else the qform; spacing always from pixdim; neither: unit
/// directions and origin 0. One difference: an origin in metres or micrometres is scaled with the
/// spacing, while ITK does not scale it.
///
/// out     notes  one where neither form is there, both disagree, or pixdim is not the sform's
/// errors  unsupported: there is only a skewed sform
VolumeGrid nifti_grid(const NiftiHeader& header, const std::string& path, std::vector<Note>& notes);

}  // namespace headrace::imaging
