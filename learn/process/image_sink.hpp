#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "headrace/core/dtype.hpp"
#include "headrace/core/enum_names.hpp"
#include "headrace/core/json.hpp"

namespace headrace::process {

/// How chunks of a Zarr output are encoded.
enum class SinkCodec { none, blosc_zstd, zstd };

}  // namespace headrace::process

namespace headrace {
template <>
inline constexpr auto kNamesOf<process::SinkCodec> =
    names<process::SinkCodec>({{process::SinkCodec::none, "none"},
                               {process::SinkCodec::blosc_zstd, "blosc-zstd"},
                               {process::SinkCodec::zstd, "zstd"}});
}  // namespace headrace

namespace headrace::process {

/// How results are to be stored.
struct SinkOptions {
  std::string path;
  std::int64_t chunk = 512;  ///< edge of a Zarr chunk or a TIFF tile: 256, 512, 1024, 2048
  SinkCodec codec = SinkCodec::none;
  int level = 1;           ///< of the codec
  bool overwrite = false;  ///< a finished output may be replaced
};

/// The image to store.
struct SinkImage {
  std::int64_t height = 0, width = 0;
  std::vector<std::string> channel_names;
  DType dtype = DType::uint8;
  std::optional<double> mpp_y, mpp_x;
  Json operation;  ///< for the output's metadata
  std::string source_format, source_fingerprint;
};

/// Place of a chunk's elements in memory; only those inside the image are read.
struct ChunkView {
  const std::byte* data;  ///< channel 0 of the chunk's first pixel
  std::int64_t channel_bytes, row_bytes, pixel_bytes;
};

struct SinkCounts {
  std::uint64_t written = 0;  ///< chunks stored now
  std::uint64_t empty = 0;    ///< chunks of only zeros, which Zarr does not store
  std::uint64_t kept = 0;     ///< chunks of an earlier, interrupted run
  std::uint64_t bytes = 0;    ///< stored now
};

/// Takes an image chunk by chunk, in any order, from any thread. Until `finish` no reader takes
/// what lies at the path for an image. The same elements give the same bytes.
class ImageSink {
 public:
  virtual ~ImageSink() = default;
  /// Whether chunks should have interleaved channels.
  virtual bool interleaved() const noexcept = 0;
  /// Whether an earlier, interrupted run with the same settings stored this chunk.
  virtual bool has(std::int64_t chunk_y, std::int64_t chunk_x) const = 0;
  /// Stores a chunk; elements beyond the image's edge are stored as zero. Errors: io.
  virtual void write(std::int64_t chunk_y, std::int64_t chunk_x, const ChunkView& view) = 0;
  /// Whether a chunk's object consists of its elements only: channels one after the other, rows
  /// without gaps, zero beyond the image's edge. Then these two may be called instead of `write`.
  virtual bool takes_files() const noexcept { return false; }
  /// `write` puts `size_bytes` into the file of that path, which exists and is empty; they are not
  /// all zero. Errors: io, and those of `write`, after which nothing remains.
  virtual void write_file(std::int64_t chunk_y, std::int64_t chunk_x, std::uint64_t size_bytes,
                          const std::function<void(const std::string& path)>& write);
  virtual void write_zeros(std::int64_t chunk_y, std::int64_t chunk_x);
  /// Completes the image: syncs it to the disk, then marks it as complete. Errors: io.
  virtual void finish() = 0;
  virtual SinkCounts counts() const = 0;

  /// Empty if an output with these `options` has takes_files(), else why not.
  static std::string why_no_files(const SinkOptions& options);
  /// A path that ends in .tif or .tiff is a tiled BigTIFF without compression, else an OME-Zarr 0.5
  /// image of one level.
  ///
  /// A Zarr output that an interrupted run left is continued where its settings and source are the
  /// same and the machine has not been restarted, else begun anew; a TIFF is always begun anew.
  ///
  /// errors  usage (a finished output without `overwrite`; a folder that Headrace did not write; a
  ///         codec that the format lacks), io (another process writes there)
  static std::unique_ptr<ImageSink> open(const SinkOptions& options, const SinkImage& image);
};

bool is_tiff_name(const std::string& path);

}  // namespace headrace::process
