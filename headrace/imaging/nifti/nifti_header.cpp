#include "headrace/imaging/nifti/nifti_header.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
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

double finite_or(double value, double fallback) { return std::isfinite(value) ? value : fallback; }

template <typename Float>
void set_geometry(NiftiHeader& header, const Fields& f, std::size_t pixdim, std::size_t quaternion,
                  std::size_t srow) {
  for (int i = 0; i < 3; ++i) {
    const double size = f.at<Float>(pixdim + sizeof(Float) * (i + 1));
    header.pixdim_xyz[i] = size == 0 || !std::isfinite(size) ? 1 : size;
    header.quaternion_bcd[i] = finite_or(f.at<Float>(quaternion + sizeof(Float) * i), 0);
    header.qoffset_ras[i] = finite_or(f.at<Float>(quaternion + sizeof(Float) * (i + 3)), 0);
  }
  header.qfac = f.at<Float>(pixdim) < 0 ? -1 : 1;
  for (int i = 0; i < 12; ++i) header.srow_ras[i] = f.at<Float>(srow + sizeof(Float) * i);
}

void set_scale(NiftiHeader& header, double slope, double intercept) {
  if (std::isfinite(slope) && slope != 0) {
    header.slope = slope;
    header.intercept = finite_or(intercept, 0);
  }
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
    set_geometry<float>(header, f, 76, 256, 280);
    set_offset(header, f.at<float>(108), 348, path);
    set_scale(header, f.at<float>(112), f.at<float>(116));
    header.mm_per_unit = mm_per_unit(f.at<std::int8_t>(123));
    header.qform_code = f.at<std::int16_t>(252);
    header.sform_code = f.at<std::int16_t>(254);
  } else {
    for (int i = 0; i < 8; ++i) dim[i] = f.at<std::int64_t>(16 + 8 * i);
    set_shape(header, dim, path);
    header.dtype = dtype_of(f.at<std::int16_t>(12), path);
    set_geometry<double>(header, f, 104, 352, 400);
    set_offset(header, static_cast<double>(f.at<std::int64_t>(168)), 540, path);
    set_scale(header, f.at<double>(176), f.at<double>(184));
    header.qform_code = f.at<std::int32_t>(344);
    header.sform_code = f.at<std::int32_t>(348);
    header.mm_per_unit = mm_per_unit(f.at<std::int32_t>(500));
  }
  return header;
}

}  // namespace headrace::imaging
