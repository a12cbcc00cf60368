#include "headrace/zarr/fill_value.hpp"

#include <bit>
#include <nlohmann/json.hpp>

#include "tests/zarr/zarr_test_data.hpp"

namespace headrace::zarr {
namespace {

template <typename T>
T parsed(const Json& value, DType dtype) {
  const std::vector<std::byte> bytes = parse_fill_value(value, dtype, "here");
  EXPECT_EQ(bytes.size(), sizeof(T));
  T out;
  std::memcpy(&out, bytes.data(), sizeof out);
  return out;
}

std::vector<std::byte> bytes_of(std::uint64_t bits, DType dtype) {
  std::vector<std::byte> bytes(8);
  std::memcpy(bytes.data(), &bits, 8);
  bytes.resize(size_of(dtype));
  return bytes;
}

TEST(FillValue, IntegersAreReadToTheirLimits) {
  EXPECT_EQ(parsed<std::int8_t>(-128, DType::int8), -128);
  EXPECT_EQ(parsed<std::uint8_t>(255, DType::uint8), 255);
  EXPECT_EQ(parsed<std::int16_t>(-32768, DType::int16), -32768);
  EXPECT_EQ(parsed<std::int64_t>(INT64_MIN, DType::int64), INT64_MIN);
  EXPECT_EQ(parsed<std::uint64_t>(UINT64_MAX, DType::uint64), UINT64_MAX);
  EXPECT_EQ(parsed<std::uint8_t>(true, DType::boolean), 1);
}

TEST(FillValue, ValuesOfAnotherTypeOrOutOfRangeAreRefused) {
  const auto refused = [](const Json& value, DType dtype) {
    error_of(ErrorCode::malformed, [&] { parse_fill_value(value, dtype, "here"); });
  };
  refused(256, DType::uint8);
  refused(-1, DType::uint64);
  refused(128, DType::int8);
  refused(-129, DType::int8);
  refused(1.5, DType::int32);
  refused(1, DType::boolean);
  refused(true, DType::uint8);
  refused("NaN", DType::int16);
  refused("nan", DType::float32);
  refused("0x7fc0", DType::float32);
  refused("0x7fc0000g", DType::float32);
  refused(nullptr, DType::float64);
}

// IEEE 754 binary16: 1/3 is 0x3555, the largest 65504 is 0x7bff, the smallest subnormal 2^-24 is
// 0x0001.
TEST(FillValue, HalfPrecisionIsRoundedToNearestEven) {
  EXPECT_EQ(parsed<std::uint16_t>(1.0 / 3, DType::float16), 0x3555);
  EXPECT_EQ(parsed<std::uint16_t>(-2, DType::float16), 0xc000);
  EXPECT_EQ(parsed<std::uint16_t>(65504, DType::float16), 0x7bff);
  EXPECT_EQ(parsed<std::uint16_t>(65519.99, DType::float16), 0x7bff);
  EXPECT_EQ(parsed<std::uint16_t>(65520, DType::float16), 0x7c00);
  EXPECT_EQ(parsed<std::uint16_t>(0x1p-24, DType::float16), 0x0001);
  EXPECT_EQ(parsed<std::uint16_t>(0x1p-25, DType::float16), 0x0000);
  EXPECT_EQ(parsed<std::uint16_t>(2049, DType::float16), 0x6800);
  EXPECT_EQ(parsed<std::uint16_t>(2051, DType::float16), 0x6802);
  EXPECT_EQ(parsed<std::uint16_t>(0x1.ffep-15, DType::float16), 0x0400);
}

TEST(FillValue, EveryHalfSurvivesTheRoundTrip) {
  for (std::uint32_t bits = 0; bits < 65536; ++bits) {
    const auto bytes = bytes_of(bits, DType::float16);
    const Json json = fill_value_json(bytes, DType::float16);
    ASSERT_EQ(parse_fill_value(json, DType::float16, "here"), bytes) << bits << " " << json;
  }
}

TEST(FillValue, EveryKindOfFloatSurvivesTheRoundTrip) {
  for (const std::uint64_t bits :
       {0x0ULL, 0x8000000000000000ULL, 0x7ff0000000000000ULL, 0xfff0000000000000ULL,
        0x7ff8000000000000ULL, 0x7ff8000000000001ULL, 0xfff8000000000000ULL, 0x1ULL,
        0x3fb999999999999aULL}) {
    const auto bytes = bytes_of(bits, DType::float64);
    EXPECT_EQ(parse_fill_value(fill_value_json(bytes, DType::float64), DType::float64, "here"),
              bytes);
  }
  for (const std::uint32_t bits :
       {0x0U, 0x80000000U, 0x7f800000U, 0xff800000U, 0x7fc00000U, 0x7fc00001U, 0x1U, 0x3dcccccdU}) {
    const auto bytes = bytes_of(bits, DType::float32);
    EXPECT_EQ(parse_fill_value(fill_value_json(bytes, DType::float32), DType::float32, "here"),
              bytes);
  }
}

TEST(FillValue, NamesAndBitsAreWrittenAsTheSpecificationSays) {
  EXPECT_EQ(fill_value_json(bytes_of(0x7fc00000, DType::float32), DType::float32), "NaN");
  EXPECT_EQ(fill_value_json(bytes_of(0x7fc00001, DType::float32), DType::float32), "0x7fc00001");
  EXPECT_EQ(fill_value_json(bytes_of(0xff800000, DType::float32), DType::float32), "-Infinity");
  EXPECT_EQ(fill_value_json(bytes_of(1, DType::boolean), DType::boolean), true);
}

}  // namespace
}  // namespace headrace::zarr
