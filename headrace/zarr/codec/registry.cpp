#include "headrace/zarr/codec/registry.hpp"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "headrace/core/error.hpp"
#include "headrace/zarr/codec/blosc.hpp"
#include "headrace/zarr/codec/bytes.hpp"
#include "headrace/zarr/codec/crc32c_codec.hpp"
#include "headrace/zarr/codec/gzip.hpp"
#include "headrace/zarr/codec/imagecodecs_jpeg.hpp"
#include "headrace/zarr/codec/imagecodecs_jpeg2k.hpp"
#include "headrace/zarr/codec/jpeg2k_tile.hpp"
#include "headrace/zarr/codec/jpeg_tables.hpp"
#include "headrace/zarr/codec/sharding_indexed.hpp"
#include "headrace/zarr/codec/zstd.hpp"

namespace headrace::zarr {

CodecConfig::CodecConfig(const Json& codec, std::string origin) : origin_(std::move(origin)) {
  configuration_ = Json::object();
  if (codec.is_string()) {  // Zarr v3.1: a codec without configuration by its name alone
    name_ = codec.get<std::string>();
    return;
  }
  if (!codec.is_object() || !codec.contains("name") || !codec["name"].is_string()) {
    fail(ErrorCode::malformed, "{}: codec {} has no name", origin_, codec.dump());
  }
  name_ = codec["name"].get<std::string>();
  for (const auto& [key, value] : codec.items()) {
    if (key == "configuration" && value.is_object()) {
      configuration_ = value;
    } else if (key != "name" && !(key == "must_understand" && value.is_boolean())) {
      fail(ErrorCode::malformed, "{}: codec '{}' has the field '{}' ({}), which is not known",
           origin_, name_, key, value.dump());
    }
  }
}

void CodecConfig::reject(const char* key, const std::string& problem) const {
  const auto found = configuration_.find(key);
  fail(ErrorCode::malformed, "{}: codec '{}': '{}' is {}, {}", origin_, name_, key,
       found == configuration_.end() ? "missing" : found->dump(), problem);
}

bool CodecConfig::has(const char* key) const {
  const auto found = configuration_.find(key);
  return found != configuration_.end() && !found->is_null();
}

const Json& CodecConfig::value(const char* key) {
  asked_.emplace_back(key);
  const auto found = configuration_.find(key);
  if (found == configuration_.end()) reject(key, "expected a value");
  return *found;
}

std::int64_t CodecConfig::integer(const char* key, std::int64_t low, std::int64_t high) {
  const Json& found = value(key);
  const bool fits = found.is_number_unsigned() ? found.get<std::uint64_t>() <= INT64_MAX
                                               : found.is_number_integer();
  if (!fits || found.get<std::int64_t>() < low || found.get<std::int64_t>() > high) {
    reject(key, fmt::format("expected an integer from {} to {}", low, high));
  }
  return found.get<std::int64_t>();
}

std::int64_t CodecConfig::integer_or(const char* key, std::int64_t fallback, std::int64_t low,
                                     std::int64_t high) {
  asked_.emplace_back(key);
  return has(key) ? integer(key, low, high) : fallback;
}

bool CodecConfig::boolean_or(const char* key, bool fallback) {
  asked_.emplace_back(key);
  if (!has(key)) return fallback;
  const Json& found = value(key);
  if (!found.is_boolean()) reject(key, "expected true or false");
  return found.get<bool>();
}

std::size_t CodecConfig::choice(const char* key, std::span<const std::string_view> accepted) {
  const Json& found = value(key);
  if (found.is_string()) {
    const auto at = std::find(accepted.begin(), accepted.end(), found.get<std::string>());
    if (at != accepted.end()) return static_cast<std::size_t>(at - accepted.begin());
  }
  reject(key, fmt::format("expected one of {}", fmt::join(accepted, ", ")));
}

std::vector<std::int64_t> CodecConfig::integers(const char* key) {
  const Json& found = value(key);
  std::vector<std::int64_t> out;
  if (!found.is_array()) reject(key, "expected a list of integers");
  for (const Json& item : found) {
    const bool fits = item.is_number_unsigned() ? item.get<std::uint64_t>() <= INT64_MAX
                                                : item.is_number_integer();
    if (!fits) reject(key, "expected a list of integers");
    out.push_back(item.get<std::int64_t>());
  }
  return out;
}

void CodecConfig::require_null(const char* key) {
  asked_.emplace_back(key);
  if (has(key)) {
    fail(ErrorCode::unsupported, "{}: codec '{}': '{}' is {}; only null is supported", origin_,
         name_, key, configuration_[key].dump());
  }
}

void CodecConfig::finish() const {
  for (const auto& [key, item] : configuration_.items()) {
    if (std::find(asked_.begin(), asked_.end(), key) == asked_.end()) {
      fail(ErrorCode::unsupported, "{}: codec '{}' has the option '{}', which is not known",
           origin_, name_, key);
    }
  }
}

std::span<const CodecEntry> codec_registry() {
  using Kind = CodecEntry::Kind;
  static constexpr std::array<CodecEntry, 11> kCodecs{
      {{"transpose", Kind::array_array, nullptr, nullptr},
       {"bytes", Kind::array_bytes, make_bytes, nullptr},
       {"sharding_indexed", Kind::array_bytes, make_sharding_indexed, nullptr},
       {"imagecodecs_jpeg", Kind::array_bytes, make_imagecodecs_jpeg, nullptr},
       {"imagecodecs_jpeg2k", Kind::array_bytes, make_imagecodecs_jpeg2k, nullptr},
       {"blosc", Kind::bytes_bytes, nullptr, make_blosc},
       {"zstd", Kind::bytes_bytes, nullptr, make_zstd},
       {"gzip", Kind::bytes_bytes, nullptr, make_gzip},
       {"crc32c", Kind::bytes_bytes, nullptr, make_crc32c},
       {"headrace.jpeg_tables", Kind::bytes_bytes, nullptr, make_jpeg_tables},
       {"headrace.jpeg2k_tile", Kind::bytes_bytes, nullptr, make_jpeg2k_tile}}};
  return kCodecs;
}

const CodecEntry& find_codec(const CodecConfig& config) {
  std::vector<std::string_view> names;
  for (const CodecEntry& entry : codec_registry()) {
    if (entry.name == config.name()) return entry;
    names.push_back(entry.name);
  }
  fail(ErrorCode::unsupported, "{}: codec '{}' is not supported; supported are {}", config.origin(),
       config.name(), fmt::join(names, ", "));
}

}  // namespace headrace::zarr
