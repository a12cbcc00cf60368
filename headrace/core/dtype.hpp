#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace headrace {

/// Element types of arrays; the names are Zarr v3's ("bool", "int8" … "float64").
enum class DType {
  boolean,
  int8,
  int16,
  int32,
  int64,
  uint8,
  uint16,
  uint32,
  uint64,
  float16,
  float32,
  float64
};

std::size_t size_of(DType dtype) noexcept;       ///< bytes of one element
std::string_view name_of(DType dtype) noexcept;  ///< Zarr v3 name
std::optional<DType> parse_dtype(std::string_view name) noexcept;
std::string_view npy_descr(DType dtype) noexcept;  ///< NumPy's descr, little-endian: "<f4", "|u1" …

}  // namespace headrace
