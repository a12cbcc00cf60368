#include "headrace/imaging/volume/stored_values.hpp"

#include <algorithm>
#include <cstring>

#include "headrace/core/error.hpp"
#include "headrace/storage/open_store.hpp"

namespace headrace::imaging {
namespace {

template <typename T>
void convert(const std::byte* src, std::size_t count, bool swapped, double slope, double intercept,
             double* dst) {
  for (std::size_t i = 0; i < count; ++i) {
    std::array<std::byte, sizeof(T)> raw;
    std::memcpy(raw.data(), src + i * sizeof(T), sizeof(T));
    if (swapped) std::reverse(raw.begin(), raw.end());
    T value;
    std::memcpy(&value, raw.data(), sizeof(T));
    dst[i] = static_cast<double>(value) * slope + intercept;
  }
}

void convert(DType dtype, const std::byte* src, std::size_t count, bool swapped, double slope,
             double intercept, double* dst) {
  switch (dtype) {
    case DType::int8:
      return convert<std::int8_t>(src, count, swapped, slope, intercept, dst);
    case DType::boolean:
    case DType::uint8:
      return convert<std::uint8_t>(src, count, swapped, slope, intercept, dst);
    case DType::int16:
      return convert<std::int16_t>(src, count, swapped, slope, intercept, dst);
    case DType::uint16:
      return convert<std::uint16_t>(src, count, swapped, slope, intercept, dst);
    case DType::int32:
      return convert<std::int32_t>(src, count, swapped, slope, intercept, dst);
    case DType::uint32:
      return convert<std::uint32_t>(src, count, swapped, slope, intercept, dst);
    case DType::int64:
      return convert<std::int64_t>(src, count, swapped, slope, intercept, dst);
    case DType::uint64:
      return convert<std::uint64_t>(src, count, swapped, slope, intercept, dst);
    case DType::float32:
      return convert<float>(src, count, swapped, slope, intercept, dst);
    case DType::float64:
      return convert<double>(src, count, swapped, slope, intercept, dst);
    case DType::float16:
      break;
  }
  fail(ErrorCode::unsupported, "volumes of type {} are not read.", name_of(dtype));
}

class StoredVolume : public VolumeReader {
 public:
  StoredVolume(StoredVoxels voxels, VolumeInfo info)
      : voxels_(std::move(voxels)),
        source_(storage::open_input(voxels_.path), voxels_.file_skip, voxels_.packing) {
    info_ = std::move(info);
    name_ = voxels_.path;
    check_finite(info_.grid, name_);
    info_.source_bytes = source_.stored_bytes() + voxels_.file_skip;
    const std::uint64_t before = voxels_.data_offset;
    const std::uint64_t there = source_.stored_bytes();
    check_volume_size(voxels_.path, info_.grid.shape_zyx, size_of(voxels_.dtype),
                      source_.compressed() ? there : there - std::min(there, before),
                      source_.compressed());
    if (voxels_.to_end) refuse_rest(there - std::min(there, before));
    raw_.resize(static_cast<std::size_t>(info_.grid.slice_voxels()) * size_of(voxels_.dtype));
  }

  void read_slice(std::int64_t z, double* dst) const override {
    const auto count = static_cast<std::size_t>(info_.grid.slice_voxels());
    source_.read(voxels_.data_offset + static_cast<std::uint64_t>(z) * raw_.size(), raw_.data(),
                 raw_.size());
    convert(voxels_.dtype, raw_.data(), count, voxels_.swapped, voxels_.slope, voxels_.intercept,
            dst);
    if (z + 1 == info_.grid.shape_zyx[0] && source_.compressed()) {
      source_.check_rest(voxels_.data_offset + static_cast<std::uint64_t>(z + 1) * raw_.size());
    }
  }

 private:
  /// Bytes after the voxels are more likely some before them that the header does not state.
  void refuse_rest(std::uint64_t there) const {
    const std::uint64_t needed =
        static_cast<std::uint64_t>(info_.grid.voxels()) * size_of(voxels_.dtype);
    if (source_.compressed() || there <= needed) return;
    fail(ErrorCode::malformed,
         "{}: {} bytes from where the voxels begin, expected {}. State the bytes before the voxels "
         "in the header (MetaImage: HeaderSize), or remove those after them.",
         voxels_.path, there, needed);
  }

  StoredVoxels voxels_;
  mutable storage::ByteSource source_;
  mutable std::vector<std::byte> raw_;
};

}  // namespace

std::unique_ptr<VolumeReader> read_stored_voxels(StoredVoxels voxels, VolumeInfo info) {
  return std::make_unique<StoredVolume>(std::move(voxels), std::move(info));
}

}  // namespace headrace::imaging
