#pragma once
#include <cstddef>
#include <string_view>

#include "headrace/core/enum_names.hpp"

namespace headrace {

/// Element types of arrays; the names are Zarr v3's.
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
template <>
inline constexpr auto kNamesOf<DType> = names<DType>({{DType::boolean, "bool"},
                                                      {DType::int8, "int8"},
                                                      {DType::int16, "int16"},
                                                      {DType::int32, "int32"},
                                                      {DType::int64, "int64"},
                                                      {DType::uint8, "uint8"},
                                                      {DType::uint16, "uint16"},
                                                      {DType::uint32, "uint32"},
                                                      {DType::uint64, "uint64"},
                                                      {DType::float16, "float16"},
                                                      {DType::float32, "float32"},
                                                      {DType::float64, "float64"}});

std::size_t size_of(DType dtype) noexcept;         ///< bytes of one element
std::string_view npy_descr(DType dtype) noexcept;  ///< NumPy's descr, little-endian: "<f4", "|u1" …

}  // namespace headrace
