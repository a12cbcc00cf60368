#include "headrace/zarr/fill_value.hpp"

#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "headrace/core/error.hpp"

static_assert(std::endian::native == std::endian::little,
              "Headrace runs on little-endian machines");

namespace headrace::zarr {
namespace {

template <typename T>
std::vector<std::byte> bytes_of(T value) {
  std::vector<std::byte> bytes(sizeof value);
  std::memcpy(bytes.data(), &value, sizeof value);
  return bytes;
}

template <typename T>
T value_of(std::span<const std::byte> bytes) {
  T value;
  std::memcpy(&value, bytes.data(), sizeof value);
  return value;
}

[[noreturn]] void refuse(const Json& value, DType dtype, const std::string& origin) {
  fail(ErrorCode::malformed, "{}: fill_value {} is not a value of data type {}", origin,
       value.dump(), name_of(dtype));
}

template <typename T>
std::vector<std::byte> parse_integer(const Json& value, DType dtype, const std::string& origin) {
  if (!value.is_number_integer()) refuse(value, dtype, origin);
  // Parsed text gives unsigned numbers where it can, numbers made in C++ may be signed.
  if (value.is_number_unsigned()) {
    const auto number = value.get<std::uint64_t>();
    if (!std::in_range<T>(number)) refuse(value, dtype, origin);
    return bytes_of(static_cast<T>(number));
  }
  const auto number = value.get<std::int64_t>();
  if (!std::in_range<T>(number)) refuse(value, dtype, origin);
  return bytes_of(static_cast<T>(number));
}

// IEEE binary16 of a double, ties to even.
std::uint16_t half_bits(double value) {
  const std::uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  const double magnitude = std::fabs(value);
  if (std::isnan(value)) return sign | 0x7e00;
  if (magnitude >= 65520.0) return sign | 0x7c00;  // half-way to 2^16 and above round to infinity
  if (magnitude < 6.103515625e-05) {               // below 2^-14: subnormal, in steps of 2^-24
    return static_cast<std::uint16_t>(sign | static_cast<int>(std::nearbyint(magnitude * 0x1p24)));
  }
  int exponent = std::ilogb(magnitude);
  int mantissa = static_cast<int>(std::nearbyint(std::scalbn(magnitude, 10 - exponent)));
  if (mantissa == 2048) {
    mantissa = 1024;
    ++exponent;
  }
  return static_cast<std::uint16_t>(sign | ((exponent + 15) << 10) | (mantissa - 1024));
}

double half_value(std::uint16_t bits) {
  const int exponent = (bits >> 10) & 31, mantissa = bits & 1023;
  double magnitude = 0;
  if (exponent == 31) {
    magnitude = mantissa == 0 ? std::numeric_limits<double>::infinity()
                              : std::numeric_limits<double>::quiet_NaN();
  } else if (exponent == 0) {
    magnitude = mantissa * 0x1p-24;
  } else {
    magnitude = std::scalbn(1024.0 + mantissa, exponent - 25);
  }
  return (bits & 0x8000) != 0 ? -magnitude : magnitude;
}

std::vector<std::byte> float_bytes(double value, DType dtype) {
  if (dtype == DType::float16) return bytes_of(half_bits(value));
  if (dtype == DType::float32) return bytes_of(static_cast<float>(value));
  return bytes_of(value);
}

std::uint64_t quiet_nan_bits(DType dtype) {
  if (dtype == DType::float16) return 0x7e00;
  return dtype == DType::float32 ? 0x7fc00000U : 0x7ff8000000000000U;
}

std::vector<std::byte> bits_bytes(std::uint64_t bits, DType dtype) {
  std::vector<std::byte> bytes = bytes_of(bits);
  bytes.resize(size_of(dtype));
  return bytes;
}

std::vector<std::byte> parse_float(const Json& value, DType dtype, const std::string& origin) {
  if (value.is_number()) return float_bytes(value.get<double>(), dtype);
  if (!value.is_string()) refuse(value, dtype, origin);
  const auto text = value.get<std::string>();
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (text == "NaN") return bits_bytes(quiet_nan_bits(dtype), dtype);
  if (text == "Infinity") return float_bytes(kInfinity, dtype);
  if (text == "-Infinity") return float_bytes(-kInfinity, dtype);
  if (text.size() == 2 + 2 * size_of(dtype) && text.starts_with("0x")) {
    std::uint64_t bits = 0;
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data() + 2, end, bits, 16);
    if (error == std::errc() && stop == end) return bits_bytes(bits, dtype);
  }
  refuse(value, dtype, origin);
}

Json float_json(std::span<const std::byte> bytes, DType dtype) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, bytes.data(), bytes.size());
  double value = 0;
  if (dtype == DType::float16) value = half_value(static_cast<std::uint16_t>(bits));
  if (dtype == DType::float32) value = value_of<float>(bytes);
  if (dtype == DType::float64) value = value_of<double>(bytes);
  if (std::isnan(value)) {
    if (bits == quiet_nan_bits(dtype)) return "NaN";
    return fmt::format("0x{:0{}x}", bits, 2 * bytes.size());
  }
  if (std::isinf(value)) return value > 0 ? "Infinity" : "-Infinity";
  return value;
}

}  // namespace

std::vector<std::byte> parse_fill_value(const Json& value, DType dtype, const std::string& origin) {
  switch (dtype) {
    case DType::boolean:
      if (!value.is_boolean()) refuse(value, dtype, origin);
      return bytes_of(static_cast<std::uint8_t>(value.get<bool>() ? 1 : 0));
    case DType::int8:
      return parse_integer<std::int8_t>(value, dtype, origin);
    case DType::int16:
      return parse_integer<std::int16_t>(value, dtype, origin);
    case DType::int32:
      return parse_integer<std::int32_t>(value, dtype, origin);
    case DType::int64:
      return parse_integer<std::int64_t>(value, dtype, origin);
    case DType::uint8:
      return parse_integer<std::uint8_t>(value, dtype, origin);
    case DType::uint16:
      return parse_integer<std::uint16_t>(value, dtype, origin);
    case DType::uint32:
      return parse_integer<std::uint32_t>(value, dtype, origin);
    case DType::uint64:
      return parse_integer<std::uint64_t>(value, dtype, origin);
    case DType::float16:
    case DType::float32:
    case DType::float64:
      return parse_float(value, dtype, origin);
  }
  refuse(value, dtype, origin);
}

Json fill_value_json(std::span<const std::byte> value, DType dtype) {
  switch (dtype) {
    case DType::boolean:
      return value_of<std::uint8_t>(value) != 0;
    case DType::int8:
      return value_of<std::int8_t>(value);
    case DType::int16:
      return value_of<std::int16_t>(value);
    case DType::int32:
      return value_of<std::int32_t>(value);
    case DType::int64:
      return value_of<std::int64_t>(value);
    case DType::uint8:
      return value_of<std::uint8_t>(value);
    case DType::uint16:
      return value_of<std::uint16_t>(value);
    case DType::uint32:
      return value_of<std::uint32_t>(value);
    case DType::uint64:
      return value_of<std::uint64_t>(value);
    default:
      return float_json(value, dtype);
  }
}

}  // namespace headrace::zarr
