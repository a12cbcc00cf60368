#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "headrace/storage/store.hpp"
#include "headrace/zarr/array_writer.hpp"

namespace headrace::result {

/// Writes a uint8 array that comes part by part along its first axis of space: rows (y, x) or
/// slices (z, y, x), with a leading axis of channels or without. A shard is a band of parts over
/// the whole of the other axes, so a band is all that is kept. One thread.
class BandWriter {
 public:
  struct Layout {
    std::vector<std::int64_t> shape;  ///< of space: (y, x) or (z, y, x)
    std::int64_t channels = 0;        ///< 0: no axis of channels
    std::int64_t band = 512;          ///< parts of a band, and of an inner chunk
    std::int64_t chunk = 512;         ///< edge of an inner chunk along the other axes
    std::uint8_t fill = 0;
  };

  /// pool: for the chunks of a band; null: the calling thread.
  BandWriter(std::shared_ptr<storage::Store> store, const std::string& path, const Layout& layout,
             ThreadPool* pool = nullptr);

  /// The next part: (channels, pixels), or (pixels).
  void add(std::span<const std::uint8_t> part);
  std::int64_t parts() const noexcept { return given_; }
  /// Errors: internal (parts are missing).
  void finish();

 private:
  void write_band();

  Layout layout_;
  std::size_t pixels_ = 0;  ///< of a part
  zarr::ArrayWriter writer_;
  ThreadPool* pool_;
  std::int64_t given_ = 0;
  std::vector<std::uint8_t> band_;  ///< (channel, part, pixels)
};

}  // namespace headrace::result
