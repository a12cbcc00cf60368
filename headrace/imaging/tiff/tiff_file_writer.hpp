#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "headrace/storage/atomic_file.hpp"

namespace headrace::imaging {

enum class TiffType : std::uint16_t {
  ascii = 2,
  word = 3,
  dword = 4,
  rational = 5,
  undefined = 7,
  offset = 0
};

/// One tag; a rational has two values. `offset` is written as LONG, or as LONG8 in a BigTIFF.
struct TiffTag {
  std::uint16_t tag;
  TiffType type;
  std::vector<std::uint64_t> values;
};

/// Writes a little-endian TIFF with its directories at the end, so that picture data can be
/// streamed. It becomes a classic TIFF or a BigTIFF once its size is known. The file appears whole
/// or not at all.
class TiffFileWriter {
 public:
  /// classic_limit: the last byte that a classic TIFF may reach; lower in tests.
  explicit TiffFileWriter(const std::string& path, std::uint64_t classic_limit = 0xFFFFFFFFu);

  /// Appends picture data; returns its place. Errors: io.
  std::uint64_t append(std::span<const std::byte> bytes);
  /// Room for picture data that comes later, in any order and from any thread.
  std::uint64_t reserve(std::uint64_t bytes) { return file_.reserve(bytes); }
  void fill_reserved(std::uint64_t offset, std::span<const std::byte> bytes) {
    file_.fill_reserved(offset, bytes);
  }
  /// Adds a directory; tags may come in any order. `children`: directories that belong to it, such
  /// as coarser levels (OME-TIFF); they are reached by its SubIFDs alone.
  void add_directory(std::vector<TiffTag> tags, std::vector<std::vector<TiffTag>> children = {});
  void finish();

 private:
  struct Directory {
    std::vector<TiffTag> tags;  ///< by number
    std::vector<std::vector<TiffTag>> children;
  };
  void write_children(bool big);

  storage::AtomicFile file_;
  std::uint64_t classic_limit_;
  std::vector<Directory> directories_;
};

/// Resolution tags: pixels a centimetre, from micrometres a pixel.
std::vector<TiffTag> tiff_resolution_tags(double mpp);

}  // namespace headrace::imaging
