#include "headrace/imaging/volume/nifti_header.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string_view>
#include <type_traits>

#include "headrace/core/error.hpp"

namespace headrace::imaging {
namespace {

/// Fields by byte offset, in the file's byte order.
class Fields {
 public:
  Fields(std::span<const std::byte> bytes, bool swapped) : bytes_(bytes), swapped_(swapped) {}

  template <typename T>
  T at(std::size_t offset) const {
    std::array<std::byte, sizeof(T)> raw;
    std::memcpy(raw.data(), bytes_.data() + offset, sizeof(T));
    if (swapped_) std::reverse(raw.begin(), raw.end());
    T value;
    std::memcpy(&value, raw.data(), sizeof(T));
    return value;
  }

 private:
  std::span<const std::byte> bytes_;
  bool swapped_;
};

struct Version {
  int number = 0;  ///< 0: not NIfTI
  bool swapped = false;
};

Version version_of(std::span<const std::byte> bytes) {
  if (bytes.size() < 348) return {};
  for (const bool swapped : {false, true}) {
    const auto size = Fields(bytes, swapped).at<std::int32_t>(0);
    const auto* text = reinterpret_cast<const char*>(bytes.data());
    if (size == 348 &&
        (std::memcmp(text + 344, "n+1", 4) == 0 || std::memcmp(text + 344, "ni1", 4) == 0)) {
      return {1, swapped};
    }
    if (size == 540 && bytes.size() >= 540 &&
        (std::memcmp(text + 4, "n+2", 4) == 0 || std::memcmp(text + 4, "ni2", 4) == 0)) {
      return {2, swapped};
    }
  }
  return {};
}

DType dtype_of(int code, const std::string& path) {
  switch (code) {
    case 2:
      return DType::uint8;
    case 4:
      return DType::int16;
    case 8:
      return DType::int32;
    case 16:
      return DType::float32;
    case 64:
      return DType::float64;
    case 256:
      return DType::int8;
    case 512:
      return DType::uint16;
    case 768:
      return DType::uint32;
    case 1024:
      return DType::int64;
    case 1280:
      return DType::uint64;
    default:
      break;
  }
  fail(ErrorCode::unsupported,
       "{}: NIfTI data type {}, expected an integer or float type (2, 4, 8, 16, 64, 256, 512, 768, "
       "1024, 1280). Complex, "
       "RGB, binary and 128-bit volumes are not read.",
       path, code);
}

void set_shape(NiftiHeader& header, const std::array<std::int64_t, 8>& dim,
               const std::string& path) {
  if (dim[0] < 1 || dim[0] > 7) {
    fail(ErrorCode::malformed, "{}: the NIfTI header says {} dimensions, expected 1..7.", path,
         dim[0]);
  }
  for (int i = 4; i <= dim[0]; ++i) {
    if (dim[i] > 1) {
      fail(ErrorCode::unsupported,
           "{}: {} volumes along dimension {}, expected one volume. Split the file.", path, dim[i],
           i);
    }
  }
  for (int i = 0; i < 3; ++i) header.shape_zyx[2 - i] = i < dim[0] ? dim[i + 1] : 1;
}

/// A number of the header that is used. What other programs put in the place of NaN (0, 1, the unit
/// matrix) would make up the patient's place, side or values.
double finite(double value, std::string_view field, const std::string& path) {
  if (std::isfinite(value)) return value;
  fail(ErrorCode::malformed,
       "{}: {} of the NIfTI header is {}, expected a finite number. Write the file again with the "
       "program that made it, or put the right number into its header.",
       path, field, value);
}

/// Needs the codes of the forms: what belongs to a form that is not stated is not read.
template <typename Float>
void set_geometry(NiftiHeader& header, const Fields& f, std::size_t pixdim, std::size_t quaternion,
                  std::size_t srow, const std::string& path) {
  for (int i = 0; i < 3; ++i) {
    const double size = f.at<Float>(pixdim + sizeof(Float) * (i + 1));
    header.pixdim_xyz[i] = size == 0 ? 1 : finite(size, fmt::format("pixdim[{}]", i + 1), path);
    if (header.qform_code <= 0) continue;
    constexpr std::array<const char*, 6> kNames{"quatern_b", "quatern_c", "quatern_d",
                                                "qoffset_x", "qoffset_y", "qoffset_z"};
    const auto number = [&](int at) {
      return finite(f.at<Float>(quaternion + sizeof(Float) * at), kNames[at], path);
    };
    header.quaternion_bcd[i] = number(i);
    header.qoffset_ras[i] = number(i + 3);
  }
  header.qfac = f.at<Float>(pixdim) < 0 ? -1 : 1;
  for (int i = 0; i < 12 && header.sform_code > 0; ++i) {
    const std::string field = fmt::format("srow_{}[{}]", "xyz"[i / 4], i % 4);
    header.srow_ras[i] = finite(f.at<Float>(srow + sizeof(Float) * i), field, path);
  }
}

/// A slope of 0 says that values are not scaled.
void set_scale(NiftiHeader& header, double slope, double intercept, const std::string& path) {
  if (finite(slope, "scl_slope", path) == 0) return;
  header.slope = slope;
  header.intercept = finite(intercept, "scl_inter", path);
}

double mm_per_unit(int units) {
  switch (units & 7) {
    case 1:
      return 1000;
    case 3:
      return 0.001;
    default:
      return 1;  // millimetres, or not stated
  }
}

void set_offset(NiftiHeader& header, double offset, std::size_t header_bytes,
                const std::string& path) {
  if (!(offset >= static_cast<double>(header_bytes) && offset <= 1e15)) {
    fail(ErrorCode::malformed,
         "{}: the NIfTI header puts the voxels at byte {}, expected at least {}.", path, offset,
         header_bytes);
  }
  header.data_offset = static_cast<std::uint64_t>(offset);
}

}  // namespace

bool is_nifti_header(std::span<const std::byte> bytes) { return version_of(bytes).number != 0; }

NiftiHeader parse_nifti_header(std::span<const std::byte> bytes, const std::string& path) {
  const Version version = version_of(bytes);
  if (version.number == 0) {
    fail(ErrorCode::malformed,
         "{}: not a NIfTI file (header size 348 or 540 and magic \"n+1\" or \"n+2\" expected).",
         path);
  }
  NiftiHeader header;
  header.swapped = version.swapped;
  const Fields f(bytes, version.swapped);
  const auto* text = reinterpret_cast<const char*>(bytes.data());
  if (text[(version.number == 1 ? 344 : 4) + 1] == 'i') {
    fail(ErrorCode::unsupported,
         "{}: a NIfTI pair (.hdr and .img), expected one file. Convert it to .nii.gz.", path);
  }
  std::array<std::int64_t, 8> dim{};
  if (version.number == 1) {
    for (int i = 0; i < 8; ++i) dim[i] = f.at<std::int16_t>(40 + 2 * i);
    set_shape(header, dim, path);
    header.dtype = dtype_of(f.at<std::int16_t>(70), path);
    header.qform_code = f.at<std::int16_t>(252);
    header.sform_code = f.at<std::int16_t>(254);
    set_geometry<float>(header, f, 76, 256, 280, path);
    set_offset(header, f.at<float>(108), 348, path);
    set_scale(header, f.at<float>(112), f.at<float>(116), path);
    header.mm_per_unit = mm_per_unit(f.at<std::int8_t>(123));
  } else {
    for (int i = 0; i < 8; ++i) dim[i] = f.at<std::int64_t>(16 + 8 * i);
    set_shape(header, dim, path);
    header.dtype = dtype_of(f.at<std::int16_t>(12), path);
    header.qform_code = f.at<std::int32_t>(344);
    header.sform_code = f.at<std::int32_t>(348);
    set_geometry<double>(header, f, 104, 352, 400, path);
    set_offset(header, static_cast<double>(f.at<std::int64_t>(168)), 540, path);
    set_scale(header, f.at<double>(176), f.at<double>(184), path);
    header.mm_per_unit = mm_per_unit(f.at<std::int32_t>(500));
  }
  return header;
}

}  // namespace headrace::imaging
