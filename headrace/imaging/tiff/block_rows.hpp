#pragma once
#include <tiffio.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "headrace/imaging/tiff/tiff_directory.hpp"
#include "headrace/imaging/tiff/tiff_stream.hpp"

namespace headrace::imaging {

/// Decodes one tile or strip of a TIFF row by row, so that its pixels never lie in memory as a
/// whole; its compressed bytes do, unless it has no compression. For libtiff a tile is all or
/// nothing; so the block is shown to it as a TIFF of its own, in which it is the only strip, in
/// front of the bytes of the file. One thread at a time.
class BlockRows {
 public:
  /// Of a picture's directory: what decodes its blocks, as libtiff read it.
  /// Errors: memory, malformed.
  BlockRows(std::shared_ptr<const storage::Object> file, const TiffDirectory& d, TIFF* whole,
            std::size_t block, std::int64_t height);
  ~BlockRows();
  BlockRows(const BlockRows&) = delete;
  BlockRows& operator=(const BlockRows&) = delete;

  /// Whether a compression is decoded by rows.
  static bool can(std::uint16_t compression);

  std::int64_t row_bytes() const noexcept { return row_bytes_; }
  /// The row after the one that was decoded last; reading an earlier one begins at the top again.
  std::int64_t next_row() const noexcept { return next_; }
  /// Samples of rows [y, y + count), one row after the other. False: damaged; `why()` tells.
  bool read(std::int64_t y, std::int64_t count, std::uint8_t* dst);
  const std::string& why() const noexcept { return why_; }

 private:
  static int on_error(TIFF*, void* self, const char*, const char* format, va_list args);

  TiffStream stream_;  ///< a header and a directory of ours in front of the file
  std::string why_;
  TIFF* tiff_ = nullptr;
  std::int64_t row_bytes_ = 0, next_ = 0;
};

}  // namespace headrace::imaging
