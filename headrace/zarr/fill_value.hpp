#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "headrace/core/dtype.hpp"
#include "headrace/core/json.hpp"

namespace headrace::zarr {

/// Reads a fill value of zarr.json into the little-endian bytes of one element.
///
/// source  Zarr v3 core, "Fill value": numbers, true and false, "NaN", "Infinity", "-Infinity", and
///         for floats the bits as "0x…" text, most significant digit first
/// errors  malformed (names `origin`, the value and the data type)
std::vector<std::byte> parse_fill_value(const Json& value, DType dtype, const std::string& origin);

/// The same back; every bit pattern of every type survives the round trip.
Json fill_value_json(std::span<const std::byte> value, DType dtype);

}  // namespace headrace::zarr
