#include "headrace/core/dtype.hpp"

#include <array>

namespace headrace {
namespace {

struct Row {
  DType dtype;
  std::size_t size;
  std::string_view name, npy;
};

constexpr std::array<Row, 12> kRows{{{DType::boolean, 1, "bool", "|b1"},
                                     {DType::int8, 1, "int8", "|i1"},
                                     {DType::int16, 2, "int16", "<i2"},
                                     {DType::int32, 4, "int32", "<i4"},
                                     {DType::int64, 8, "int64", "<i8"},
                                     {DType::uint8, 1, "uint8", "|u1"},
                                     {DType::uint16, 2, "uint16", "<u2"},
                                     {DType::uint32, 4, "uint32", "<u4"},
                                     {DType::uint64, 8, "uint64", "<u8"},
                                     {DType::float16, 2, "float16", "<f2"},
                                     {DType::float32, 4, "float32", "<f4"},
                                     {DType::float64, 8, "float64", "<f8"}}};

const Row& row_of(DType dtype) noexcept { return kRows[static_cast<std::size_t>(dtype)]; }

}  // namespace

std::size_t size_of(DType dtype) noexcept { return row_of(dtype).size; }
std::string_view name_of(DType dtype) noexcept { return row_of(dtype).name; }
std::string_view npy_descr(DType dtype) noexcept { return row_of(dtype).npy; }

std::optional<DType> parse_dtype(std::string_view name) noexcept {
  for (const Row& row : kRows) {
    if (row.name == name) return row.dtype;
  }
  return std::nullopt;
}

}  // namespace headrace
