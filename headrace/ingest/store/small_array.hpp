#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "headrace/core/dtype.hpp"
#include "headrace/core/json.hpp"
#include "headrace/storage/store.hpp"

namespace headrace::ingest {

/// Writes a small array in one chunk. attributes: of attributes.headrace; elements in C order.
void write_small_array(storage::Store& store, const std::string& path,
                       const std::vector<std::int64_t>& shape, DType dtype,
                       const std::vector<std::string>& names, const Json& attributes,
                       std::span<const std::byte> elements);

/// Writes zarr.json of a group.
void write_group(storage::Store& store, const std::string& path, const Json& attributes);

}  // namespace headrace::ingest
