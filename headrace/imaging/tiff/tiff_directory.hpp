#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "headrace/storage/store.hpp"

namespace headrace::imaging {

/// Bytes of the file that hold a text or a profile.
struct TiffBytes {
  std::uint64_t at = 0, count = 0;
};

/// What one image file directory (TIFF 6.0, and BigTIFF) states about its picture. Text beyond the
/// first kilobyte and all other tags are skipped.
struct TiffDirectory {
  std::uint64_t at = 0;  ///< its byte in the file
  std::int64_t height = 0, width = 0;
  std::int64_t tile_height = 0, tile_width = 0;  ///< 0 where the picture is in strips
  std::uint32_t subfile_type = 0, image_depth = 1;
  std::uint16_t compression = 1, photometric = 0, samples = 1, planar = 1;
  std::uint16_t sample_format = 1;           ///< 1: unsigned integers
  std::uint16_t orientation = 1;             ///< 1: row 0 is the top, column 0 the left
  std::vector<std::uint16_t> extra_samples;  ///< 1: alpha, multiplied in; 2: alpha; 0: not stated
  int bits = 1;                              ///< of every sample; 0 when they differ
  /// Pixels in one ResolutionUnit (1: none, 2: inch, 3: cm; private: 4: mm, 5: micrometre); 0: not
  /// stated.
  float x_resolution = 0, y_resolution = 0;
  std::uint16_t resolution_unit = 2;
  std::string description, page_name;  ///< at most 1024 bytes
  TiffBytes whole_description, icc_profile;
  std::uint64_t blocks = 0;  ///< how many tiles or strips the directory lists
  std::vector<std::byte> jpeg_tables;
  std::vector<std::uint64_t> sub_directories;  ///< bytes in the file of the directories that belong
                                               ///< to this one
  std::vector<std::uint64_t> tile_offsets;     ///< 0: the file stores no such tile
  std::vector<std::uint32_t> tile_bytes;       ///< 0: the same
  std::vector<std::uint64_t> strip_offsets, strip_bytes;

  bool tiled() const noexcept { return tile_height > 0; }
  std::int64_t tiles_across() const noexcept { return (width + tile_width - 1) / tile_width; }
  std::int64_t tiles_down() const noexcept { return (height + tile_height - 1) / tile_height; }
  /// Whether the file stores no such tile or strip: it has no bytes, or no place. Offset 0 is the
  /// file's header, never a picture.
  bool is_missing(std::size_t block) const noexcept {
    if (tiled()) return lacks(tile_offsets, block) || lacks(tile_bytes, block);
    return lacks(strip_offsets, block) || lacks(strip_bytes, block);
  }

 private:
  template <typename T>
  static bool lacks(const std::vector<T>& list, std::size_t block) noexcept {
    return block < list.size() && list[block] == 0;
  }
};

/// Directories of the main chain of a TIFF, in file order; nothing in the file is trusted: every
/// offset and count is held against the file's size before anything is allocated, and a chain with
/// a loop is refused.
///
/// errors  malformed (also: no directory at all), corrupt (the file ends early); each names the file,
///         the byte and the tag
std::vector<TiffDirectory> read_tiff_directories(const storage::Object& file);
/// The same up to a damaged one, which `damaged` tells; an Error where the first one is.
std::vector<TiffDirectory> read_whole_tiff_directories(const storage::Object& file, bool& damaged);
/// The first directory alone, whatever follows it.
TiffDirectory read_first_tiff_directory(const storage::Object& file);
/// The directory at a byte of the file, alone.
TiffDirectory read_tiff_directory_at(const storage::Object& file, std::uint64_t at);

/// A text or profile of a directory, at most `limit` bytes of it. Errors: corrupt (not in the file).
std::vector<std::byte> read_tiff_bytes(const storage::Object& file, const TiffBytes& bytes,
                                       std::uint64_t limit);
std::string read_tiff_text(const storage::Object& file, const TiffBytes& bytes,
                           std::uint64_t limit);

/// The directories that belong to one: of its SubDirectories. A damaged one is left out.
std::vector<TiffDirectory> read_sub_directories(const storage::Object& file,
                                                const TiffDirectory& of);

/// Whether a directory's picture may be a smaller level of `full`: the same samples and the same
/// shape, to a pixel of rounding.
bool is_reduced(const TiffDirectory& d, const TiffDirectory& full);

/// Levels of the picture `found[picture]`, as below. `found`: the main chain.
std::vector<TiffDirectory> tiff_pyramid_of(const storage::Object& file,
                                           std::vector<TiffDirectory> found, std::size_t picture);

/// Levels of the picture in the first directory: that directory first, then by falling width its
/// SubDirectories (OME-TIFF), or without any, the tiled directories of the main chain that are
/// marked as reduced. Only those with the same samples and shape (to a pixel of rounding) count; a
/// damaged one is left out. Errors: malformed (in the main chain).
std::vector<TiffDirectory> read_tiff_pyramid(const storage::Object& file);

}  // namespace headrace::imaging
