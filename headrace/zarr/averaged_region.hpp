#pragma once
#include <vector>

#include "headrace/zarr/array_state.hpp"

namespace headrace::zarr {

/// A region of an array whose pixels are averages of another array's, as a region of the array that
/// has pixels of its own, from which it is made.
class AveragedRegion {
 public:
  /// array: of averages. wanted: fits it.
  AveragedRegion(const Array::State& array, const RegionRead& wanted);
  AveragedRegion(AveragedRegion&&) noexcept = default;
  AveragedRegion& operator=(AveragedRegion&&) noexcept = default;

  /// The array with pixels of its own.
  const Array::State& base() const noexcept { return *base_; }
  /// What has to be read of it: interleaved (y, x, c) without gaps, inside the array. Its row spans
  /// are this object's.
  RegionRead source() const;
  std::size_t source_bytes() const noexcept;
  /// Makes the wanted region of the source's pixels, which are used up.
  void average(std::byte* source, std::byte* dst) const;

 private:
  const Array::State* array_;
  const Array::State* base_;
  int halvings_ = 0;
  RegionRead wanted_;            ///< its row spans are not used
  Index low_{}, shape_{};        ///< the part of the wanted region that lies inside, by axis
  Index from_{}, from_shape_{};  ///< of the base
  std::vector<RowSpan> spans_;
};

}  // namespace headrace::zarr
