#include "headrace/imaging/dicom/copies.hpp"

#include <algorithm>
#include <cmath>

#include "headrace/core/error.hpp"
#include "headrace/imaging/dicom/frame_decoder.hpp"
#include "headrace/storage/open_store.hpp"

namespace headrace::imaging {
namespace {

bool same_bytes(const FileHeader& a, const FileHeader& b) {
  if (a.size_bytes != b.size_bytes) return false;
  const auto first = storage::open_input(a.path), second = storage::open_input(b.path);
  const std::uint64_t size = first->size_bytes();
  if (size != second->size_bytes()) return false;
  std::vector<std::byte> one(1 << 16), other(one.size());
  for (std::uint64_t at = 0; at < size; at += one.size()) {
    const std::size_t count = std::min<std::uint64_t>(one.size(), size - at);
    first->read(at, {one.data(), count});
    second->read(at, {other.data(), count});
    if (!std::equal(one.begin(), one.begin() + static_cast<std::ptrdiff_t>(count), other.begin()))
      return false;
  }
  return true;
}

bool same_place(const Vec3& a, const Vec3& b) {
  constexpr double kSamePlaceMm = 1e-3;
  for (int i = 0; i < 3; ++i) {
    if (!(std::abs(a[i] - b[i]) < kSamePlaceMm)) return false;
  }
  return true;
}

bool same_headers(const FileHeader& a, const FileHeader& b) {
  return std::equal(a.pictures.begin(), a.pictures.end(), b.pictures.begin(), b.pictures.end(),
                    [](const PictureHeader& one, const PictureHeader& other) {
                      return same_place(one.position_lps_mm, other.position_lps_mm) &&
                             one.rows == other.rows && one.columns == other.columns &&
                             one.slope == other.slope && one.intercept == other.intercept;
                    });
}

}  // namespace

bool same_pictures(const FileHeader& a, const FileHeader& b) {
  if (same_bytes(a, b)) return true;
  if (!same_headers(a, b)) return false;
  FrameDecoder first(a.path), second(b.path);
  if (first.rows() != second.rows() || first.columns() != second.columns() ||
      first.frames() != second.frames())
    return false;
  const auto count = static_cast<std::size_t>(first.rows() * first.columns());
  std::vector<std::int32_t> one(count), other(count);
  for (int frame = 0; frame < first.frames(); ++frame) {
    first.decode(frame, one.data());
    second.decode(frame, other.data());
    if (one != other) return false;
  }
  return true;
}

}  // namespace headrace::imaging
