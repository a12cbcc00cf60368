#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "headrace/zarr/codec/codec.hpp"

namespace headrace::zarr {

/// The configuration of one codec, read strictly.
class CodecConfig {
 public:
  /// codec: one entry of a codec list. Errors: malformed.
  CodecConfig(const Json& codec, std::string origin);

  const std::string& name() const noexcept { return name_; }
  const std::string& origin() const noexcept { return origin_; }
  bool has(const char* key) const;
  std::int64_t integer(const char* key, std::int64_t low, std::int64_t high);
  std::int64_t integer_or(const char* key, std::int64_t fallback, std::int64_t low,
                          std::int64_t high);
  bool boolean_or(const char* key, bool fallback);
  /// Position of the text in `accepted`.
  std::size_t choice(const char* key, std::span<const std::string_view> accepted);
  std::vector<std::int64_t> integers(const char* key);
  const Json& value(const char* key);
  /// Accepts a key that is null or absent. Errors: unsupported.
  void require_null(const char* key);
  /// Refuses keys that were not asked for.
  void finish() const;
  [[noreturn]] void reject(const char* key, const std::string& problem) const;

 private:
  std::string name_, origin_;
  Json configuration_;
  std::vector<std::string> asked_;
};

/// Every codec that Headrace knows, by its name in zarr.json.
struct CodecEntry {
  enum class Kind { array_array, array_bytes, bytes_bytes };
  std::string_view name;
  Kind kind;
  std::unique_ptr<ArrayBytesCodec> (*make_array_bytes)(CodecConfig&, const ChunkSpec&);
  std::unique_ptr<BytesBytesCodec> (*make_bytes_bytes)(CodecConfig&);
};

std::span<const CodecEntry> codec_registry();

/// Errors: unsupported (names the codec and those that are known).
const CodecEntry& find_codec(const CodecConfig& config);

}  // namespace headrace::zarr
