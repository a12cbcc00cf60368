#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "headrace/core/json.hpp"
#include "headrace/storage/store.hpp"
#include "headrace/zarr/array.hpp"
#include "headrace/zarr/metadata.hpp"

namespace headrace::handover {

/// One array of an image that is exported as OME-Zarr.
struct PlainArray {
  std::string path;                          ///< below the image: "0", "labels/annotation/1"
  std::vector<std::int64_t> shape;           ///< (c, y, x), (y, x) or (z, y, x)
  std::vector<std::string> dimension_names;  ///< of these axes
  DType dtype = DType::uint8;
  std::vector<std::byte> fill_value;  ///< one element, little-endian
  bool label = false;                 ///< holds class values, which no lossy codec may touch
  /// Reads a region, from any thread.
  std::function<void(const zarr::RegionRead&)> read;
  /// The array of the store that it is, and its store; null where it is read otherwise.
  std::shared_ptr<const zarr::Array> stored;
  std::shared_ptr<const storage::Store> store;
};

/// An image that is exported as OME-Zarr 0.5: its groups and arrays, levels from the finest to the
/// coarsest.
struct PlainImage {
  std::string name;
  std::string content;              ///< SHA-256 over what its bytes follow from
  std::map<std::string, Json> ome;  ///< attributes.ome of each group; "" is the image itself
  std::vector<PlainArray> arrays;
};

/// An array as it is stored.
PlainArray plain_array(std::string path, std::shared_ptr<const storage::Store> store,
                       std::shared_ptr<const zarr::Array> array);

/// The first of every two elements along the axes whose step is 2, all along those whose step is 1:
/// a coarser level of labels.
PlainArray thinned(std::string path, const PlainArray& fine, const std::vector<std::int64_t>& step);

}  // namespace headrace::handover
