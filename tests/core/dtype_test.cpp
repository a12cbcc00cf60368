#include "headrace/core/dtype.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace headrace {
namespace {

struct Row {
  DType dtype;
  std::size_t size;
  std::string name, npy;
};

// Names: Zarr v3 core specification, "Core data types". Descriptors: numpy.lib.format,
// little-endian.
const std::vector<Row> kRows{
    {DType::boolean, 1, "bool", "|b1"},    {DType::int8, 1, "int8", "|i1"},
    {DType::int16, 2, "int16", "<i2"},     {DType::int32, 4, "int32", "<i4"},
    {DType::int64, 8, "int64", "<i8"},     {DType::uint8, 1, "uint8", "|u1"},
    {DType::uint16, 2, "uint16", "<u2"},   {DType::uint32, 4, "uint32", "<u4"},
    {DType::uint64, 8, "uint64", "<u8"},   {DType::float16, 2, "float16", "<f2"},
    {DType::float32, 4, "float32", "<f4"}, {DType::float64, 8, "float64", "<f8"}};

TEST(DType, SizesNamesAndDescriptorsFollowTheirStandards) {
  for (const Row& row : kRows) {
    EXPECT_EQ(size_of(row.dtype), row.size) << row.name;
    EXPECT_EQ(name_of(row.dtype), row.name);
    EXPECT_EQ(npy_descr(row.dtype), row.npy) << row.name;
    EXPECT_EQ(value_named<DType>(row.name), row.dtype);
  }
}

TEST(DType, UnknownNamesAreNotGuessed) {
  for (const char* name : {"", "Float32", "float", "uint8 ", "complex64", "r16", "<f4"}) {
    EXPECT_FALSE(value_named<DType>(name).has_value()) << name;
  }
}

}  // namespace
}  // namespace headrace
