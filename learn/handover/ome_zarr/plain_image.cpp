#include "learn/handover/ome_zarr/plain_image.hpp"

#include <algorithm>

#include "headrace/zarr/codec/strided.hpp"

namespace headrace::handover {
namespace {

zarr::Index index_of(const std::vector<std::int64_t>& values) {
  zarr::Index out{};
  std::copy(values.begin(), values.end(), out.begin());
  return out;
}

/// Reads the box of the fine array under a region, and keeps the first element of each step.
void read_thinned(const PlainArray& fine, const std::vector<std::int64_t>& step,
                  const zarr::RegionRead& region) {
  const std::size_t rank = step.size();
  const std::size_t item = size_of(fine.dtype);
  zarr::RegionRead box;
  for (std::size_t a = 0; a < rank; ++a) {
    box.origin.push_back(region.origin[a] * step[a]);
    box.shape.push_back(region.shape[a] * step[a]);
  }
  zarr::Index fine_strides = zarr::contiguous_strides(static_cast<int>(rank), index_of(box.shape),
                                                      static_cast<std::int64_t>(item));
  std::vector<std::byte> elements(static_cast<std::size_t>(fine_strides[0] * box.shape[0]));
  box.dst = elements.data();
  box.strides_bytes.assign(fine_strides.begin(),
                           fine_strides.begin() + static_cast<std::ptrdiff_t>(rank));
  fine.read(box);
  for (std::size_t a = 0; a < rank; ++a) fine_strides[a] *= step[a];
  zarr::copy_elements(static_cast<int>(rank), index_of(region.shape), elements.data(), fine_strides,
                      region.dst, index_of(region.strides_bytes), item);
}

}  // namespace

PlainArray plain_array(std::string path, std::shared_ptr<const storage::Store> store,
                       std::shared_ptr<const zarr::Array> array) {
  const zarr::ArrayMetadata& metadata = array->metadata();
  PlainArray out;
  out.path = std::move(path);
  out.shape = metadata.shape;
  out.dimension_names = metadata.dimension_names;
  out.dtype = metadata.dtype;
  out.fill_value = metadata.fill_value;
  out.read = [array](const zarr::RegionRead& region) { array->read(region); };
  // Pixels that lie in other files, or are averages, are no chunks that could be copied.
  if (metadata.other_pixels) return out;
  out.stored = std::move(array);
  out.store = std::move(store);
  return out;
}

PlainArray thinned(std::string path, const PlainArray& fine,
                   const std::vector<std::int64_t>& step) {
  PlainArray out = fine;
  out.path = std::move(path);
  out.stored = nullptr;
  out.store = nullptr;
  for (std::size_t a = 0; a < step.size(); ++a)
    out.shape[a] = (fine.shape[a] + step[a] - 1) / step[a];
  out.read = [fine, step](const zarr::RegionRead& region) { read_thinned(fine, step, region); };
  return out;
}

}  // namespace headrace::handover
