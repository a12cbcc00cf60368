#include "headrace/core/dtype.hpp"

#include <array>

namespace headrace {
namespace {

struct Row {
  DType dtype;
  std::size_t size;
  std::string_view npy;
};

constexpr std::array<Row, 12> kRows{{{DType::boolean, 1, "|b1"},
                                     {DType::int8, 1, "|i1"},
                                     {DType::int16, 2, "<i2"},
                                     {DType::int32, 4, "<i4"},
                                     {DType::int64, 8, "<i8"},
                                     {DType::uint8, 1, "|u1"},
                                     {DType::uint16, 2, "<u2"},
                                     {DType::uint32, 4, "<u4"},
                                     {DType::uint64, 8, "<u8"},
                                     {DType::float16, 2, "<f2"},
                                     {DType::float32, 4, "<f4"},
                                     {DType::float64, 8, "<f8"}}};

const Row& row_of(DType dtype) noexcept { return kRows[static_cast<std::size_t>(dtype)]; }

}  // namespace

std::size_t size_of(DType dtype) noexcept { return row_of(dtype).size; }
std::string_view npy_descr(DType dtype) noexcept { return row_of(dtype).npy; }

}  // namespace headrace
