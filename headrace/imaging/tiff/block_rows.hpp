#pragma once
#include <tiffio.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "headrace/imaging/tiff/tiff_directory.hpp"

namespace headrace::imaging {

/// Decodes one tile or strip of a TIFF row by row, so that its pixels never lie in memory as a
/// whole; its compressed bytes do, unless it has no compression. For libtiff a tile is all or
/// nothing; so the block is shown to it as a TIFF of its own, in which it is the only strip, in
/// front of the bytes of the file. One thread at a time.
class BlockRows {
 public:
  /// Of a picture's directory: what decodes its blocks, as libtiff read it.
  /// Errors: memory, malformed.
  BlockRows(const FileBytes& file, const TiffDirectory& d, TIFF* whole, std::size_t block,
            std::int64_t height);
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
  static tmsize_t read_proc(thandle_t self, void* dst, tmsize_t count);
  static toff_t seek_proc(thandle_t self, toff_t offset, int whence);
  static toff_t size_proc(thandle_t self);
  static int on_error(TIFF*, void* self, const char*, const char* format, va_list args);

  const FileBytes& file_;
  std::vector<std::byte> front_;  ///< header and directory
  std::uint64_t at_ = 0;
  std::string why_;
  TIFF* tiff_ = nullptr;
  std::int64_t row_bytes_ = 0, next_ = 0;
};

}  // namespace headrace::imaging
