#pragma once
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "headrace/imaging/block_cache.hpp"
#include "headrace/imaging/tiff/block_rows.hpp"
#include "headrace/imaging/tiff/tiff_block.hpp"
#include "headrace/imaging/tiff/tiff_directory.hpp"
#include "headrace/imaging/tiff/tiff_handle.hpp"

namespace headrace::imaging {

/// Tiles or strips that are too large to be in memory as a whole: decoded some rows at a time, of
/// which 256 MiB are kept, since a pass over the picture in tiles needs them again. Safe from any
/// thread.
class LargeBlocks {
 public:
  /// Whether the blocks of a picture are large, and can be decoded so.
  /// decoded: bytes of one block, all samples of a pixel in it.
  static bool fit(const TiffDirectory& d, std::uint64_t decoded);

  /// block_height: of a tile, or rows of a strip; row_bytes: of a decoded row.
  LargeBlocks(std::shared_ptr<const storage::Object> file, const TiffDirectory& d,
              TiffHandlePool& pool, std::int64_t block_height, std::int64_t row_bytes);

  std::int64_t rows_at_a_time() const noexcept { return rows_at_a_time_; }
  /// Rows [part * rows_at_a_time(), …) of a block. Errors: corrupt (names the block's place).
  std::shared_ptr<const TiffBlock> rows(std::int64_t block_y, std::int64_t block_x,
                                        std::int64_t part);

 private:
  struct OpenBlock {
    std::int64_t index = -1;
    std::vector<std::unique_ptr<BlockRows>> planes;  ///< null: not stored

    const BlockRows* stored() const;
  };

  std::int64_t rows_of(std::int64_t block_y) const;
  OpenBlock& open_block(std::int64_t index, std::int64_t block_y);
  std::shared_ptr<const TiffBlock> decode(OpenBlock& open, std::int64_t block_y,
                                          std::int64_t block_x, std::int64_t part) const;

  std::shared_ptr<const storage::Object> file_;
  const TiffDirectory& d_;
  TiffHandlePool& pool_;
  std::int64_t block_height_, block_width_, across_, down_, row_bytes_, rows_at_a_time_;
  int planes_;
  BlockCache<TiffBlock> cache_;
  std::mutex mutex_;
  std::vector<OpenBlock> open_;  ///< the earliest first
};

}  // namespace headrace::imaging
