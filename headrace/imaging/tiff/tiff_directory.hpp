#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "headrace/imaging/whole_file.hpp"

namespace headrace::imaging {

/// The part of one image file directory (TIFF 6.0, and BigTIFF) that is used where its picture is
/// stored in tiles. Strips, text beyond the first kilobyte and all other tags are skipped.
struct TiffDirectory {
  std::uint64_t at = 0;  ///< its byte in the file
  std::int64_t height = 0, width = 0;
  std::int64_t tile_height = 0, tile_width = 0;  ///< 0 where the picture is in strips
  std::uint32_t subfile_type = 0, image_depth = 1;
  std::uint16_t compression = 1, photometric = 0, samples = 1, planar = 1;
  int bits = 1;              ///< of every sample; 0 when they differ
  std::string description;   ///< at most 1024 bytes
  std::uint64_t blocks = 0;  ///< how many tiles or strips the directory lists
  std::vector<std::byte> jpeg_tables;
  std::vector<std::uint64_t> sub_directories;  ///< bytes in the file of the directories that belong
                                               ///< to this one
  std::vector<std::uint64_t> tile_offsets;     ///< 0: the file stores no such tile
  std::vector<std::uint32_t> tile_bytes;

  bool tiled() const noexcept { return tile_height > 0; }
  std::int64_t tiles_across() const noexcept { return (width + tile_width - 1) / tile_width; }
  std::int64_t tiles_down() const noexcept { return (height + tile_height - 1) / tile_height; }
};

/// Directories of the main chain of a TIFF, in file order; nothing in the file is trusted: every
/// offset and count is held against the file's size before anything is allocated, and a chain with
/// a loop is refused.
///
/// errors  malformed (names the file, the byte and the tag)
std::vector<TiffDirectory> read_tiff_directories(const FileBytes& file);
/// The first directory alone, whatever follows it.
TiffDirectory read_first_tiff_directory(const FileBytes& file);
/// The directory at a byte of the file, alone.
TiffDirectory read_tiff_directory_at(const FileBytes& file, std::uint64_t at);

/// Levels of the picture in the first directory: that directory first, then by falling width its
/// SubDirectories (OME-TIFF), or without any, the tiled directories of the main chain that are
/// marked as reduced. Only those with the same samples and shape (to a pixel of rounding) count; a
/// damaged one is left out. Errors: malformed (in the main chain).
std::vector<TiffDirectory> read_tiff_pyramid(const FileBytes& file);

}  // namespace headrace::imaging
