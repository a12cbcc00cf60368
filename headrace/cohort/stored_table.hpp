#pragma once
#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "headrace/core/error.hpp"
#include "headrace/core/json.hpp"
#include "headrace/storage/store.hpp"
#include "headrace/zarr/array.hpp"

namespace headrace::cohort::detail {

/// A stored table: rows of numbers of one type.
template <typename T>
struct StoredTable {
  std::size_t rows = 0, columns = 0;
  std::vector<T> values;  ///< row-major
  Json attributes;        ///< attributes.headrace
  std::string origin;
  const T* row(std::size_t i) const { return values.data() + i * columns; }
};

/// Whether the objects of an array can hold so many bytes: a shape is a claim, and memory is taken for
/// it. Tables compress well, but not beyond 1 to 4096; smaller ones are taken as they are.
inline bool can_hold(const storage::Store& store, const std::string& key, std::uint64_t rows,
                     std::uint64_t row_bytes) {
  constexpr std::uint64_t kUnseenBytes = std::uint64_t{256} << 20, kMostPacked = 4096;
  if (rows <= kUnseenBytes / row_bytes) return true;
  std::uint64_t stored = 0;
  for (const std::string& name : store.list(key + "/")) {
    if (const auto object = store.open(name)) stored += object->size_bytes();
  }
  return rows / kMostPacked <= stored / row_bytes;
}

/// Bypasses the cohort's cache of arrays: a table is read once, when a plan is made.
/// `what` names the columns in errors; it may have `fewest` to `most` of them.
template <typename T>
StoredTable<T> read_table(const std::shared_ptr<const storage::Store>& store,
                          const std::string& key, DType dtype, std::size_t fewest, std::size_t most,
                          const std::string& what) {
  StoredTable<T> table;
  table.origin = store->describe(key);
  const auto array = zarr::Array::open(store, key);
  const auto& metadata = array->metadata();
  const auto columns =
      metadata.shape.size() == 2 ? static_cast<std::size_t>(metadata.shape[1]) : std::size_t{0};
  if (metadata.dtype != dtype || columns < fewest || columns > most || columns == 0) {
    fail(ErrorCode::malformed,
         "{}: expected a {} array of {} columns ({}), found {} of {}; ingest the store again",
         table.origin, name_of(dtype),
         fewest == most ? fmt::to_string(most) : fmt::format("{} to {}", fewest, most), what,
         name_of(metadata.dtype), columns);
  }
  table.columns = columns;
  table.attributes = metadata.attributes.value("headrace", Json::object());
  table.rows = static_cast<std::size_t>(metadata.shape[0]);
  if (!can_hold(*store, key, table.rows, columns * sizeof(T))) {
    fail(
        ErrorCode::corrupt,
        "{}: claims {} rows of {} columns, which its stored bytes can't hold; the store is damaged, "
        "copy it again or ingest again",
        table.origin, table.rows, columns);
  }
  table.values.resize(table.rows * columns);
  if (table.rows > 0) {
    array->read({.origin = {0, 0},
                 .shape = metadata.shape,
                 .dst = reinterpret_cast<std::byte*>(table.values.data()),
                 .strides_bytes = {static_cast<std::int64_t>(columns * sizeof(T)), sizeof(T)},
                 .row_spans = {}});
  }
  return table;
}

}  // namespace headrace::cohort::detail
