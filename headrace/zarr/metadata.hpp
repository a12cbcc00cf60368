#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "headrace/core/dtype.hpp"
#include "headrace/core/json.hpp"

namespace headrace::zarr {

/// Pixels that are not chunks of the array's own: a storage transformer of ours, which readers that
/// do not know it refuse (docs/formats.md, "Pixels by reference").
struct OtherPixels {
  enum class Kind {
    tile_table,  ///< chunks are ranges of one object, and a table of ranges lies in another
    average      ///< 2×2 pixels of another array, averaged
  };
  Kind kind = Kind::tile_table;
  std::string table;   ///< key of the table, below the array; of tile_table
  std::string pixels;  ///< key of the object, or path of the array, from the array: "../source"
  bool operator==(const OtherPixels&) const = default;
};

/// zarr.json of an array, by the Zarr v3 core specification
/// (https://zarr-specs.readthedocs.io/en/latest/v3/core/index.html). Axes slowest first.
struct ArrayMetadata {
  std::vector<std::int64_t> shape;
  DType dtype = DType::uint8;
  std::vector<std::int64_t> chunk_shape;  ///< regular grid; with sharding: the shard shape
  char separator = '/';
  bool v2_keys = false;                      ///< chunk key encoding "v2" instead of "default"
  std::vector<std::byte> fill_value;         ///< one element, little-endian
  Json codecs;                               ///< the list as in zarr.json
  std::vector<std::string> dimension_names;  ///< empty, or one for each axis
  std::optional<OtherPixels> other_pixels;
  Json attributes = Json::object();

  /// Errors: malformed, unsupported (names the field and `origin`).
  static ArrayMetadata parse(const Json& json, const std::string& origin);
  Json to_json() const;
  /// Key of a chunk below the array, for example "c/0/3/1".
  std::string chunk_key(const std::vector<std::int64_t>& chunk) const;
};

/// zarr.json of a group with these attributes.
Json group_metadata(const Json& attributes);

/// Codec lists that Headrace writes.
struct Codecs {
  std::vector<int> transpose;  ///< order of array → stored axes; empty: none
  Json inner;                  ///< array→bytes and bytes→bytes codecs of one inner chunk
  /// bytes, then blosc (zstd). block_bytes: 0 takes libblosc's for the level
  static Json blosc_zstd(DType dtype, int level, const std::string& shuffle,
                         std::int64_t block_bytes = 0);
  /// bytes, then blosc with any of its compressors ("lz4", "lz4hc", "zstd", …)
  static Json blosc(const std::string& compressor, DType dtype, int level,
                    const std::string& shuffle, std::int64_t block_bytes = 0);
  static Json zstd(DType dtype, int level);
  /// `codecs` followed by crc32c: a changed bit is an error, not another voxel
  static Json checked(Json codecs);
  /// `imagecodecs_jpeg`, read by zarr-python with imagecodecs and by Headrace
  static Json jpeg(int quality);
  /// `imagecodecs_jpeg2k`, of copied tiles; read as `jpeg`
  static Json jpeg2k();
  /// `headrace.jpeg_tables` after it: the abbreviated JPEGs of a TIFF, whose tables are stated once
  static Json jpeg_with_tables(std::span<const std::byte> tables, bool rgb);
  /// `headrace.jpeg2k_tile` after `imagecodecs_jpeg2k`: tiles as a TIFF has them
  static Json jpeg2k_tiles(bool ycbcr);
  /// One sharding_indexed codec: index at the end with crc32c.
  static Json sharded(const std::vector<std::int64_t>& inner_chunk_shape, const Json& inner_codecs);
};

}  // namespace headrace::zarr
