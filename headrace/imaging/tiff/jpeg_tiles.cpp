#include "headrace/imaging/tiff/jpeg_tiles.hpp"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "headrace/core/error.hpp"
#include "headrace/imaging/file_kind.hpp"
#include "headrace/imaging/slide/openslide_library.hpp"
#include "headrace/imaging/slide/openslide_slide.hpp"
#include "headrace/imaging/slide/tiff_slide.hpp"
#include "headrace/imaging/tiff/jpeg_splice.hpp"
#include "headrace/imaging/tiff/tiff_directory.hpp"
#include "headrace/imaging/tiff/tiff_pages.hpp"
#include "headrace/pixels/jpeg/jpeg_decoder.hpp"
#include "headrace/storage/open_store.hpp"

namespace headrace::imaging {
namespace {

constexpr std::uint16_t kJpeg = 7, kRgb = 2, kYCbCr = 6;
constexpr std::uint32_t kReducedImage = 1;
constexpr std::int64_t kMaxTileSide = 8192;

bool qualifies(const TiffDirectory& d) {
  if (!d.tiled() || d.tile_width < 1 || d.height < 1 || d.width < 1) return false;
  if (d.tile_height > kMaxTileSide || d.tile_width > kMaxTileSide) return false;
  const auto tiles =
      static_cast<std::uint64_t>(d.tiles_across()) * static_cast<std::uint64_t>(d.tiles_down());
  return d.compression == kJpeg && (d.photometric == kRgb || d.photometric == kYCbCr) &&
         d.samples == 3 && d.bits == 8 && d.planar == 1 && d.image_depth == 1 &&
         d.tile_offsets.size() == tiles && d.tile_bytes.size() == tiles;
}

bool complete(const TiffDirectory& d) {
  for (std::size_t i = 0; i < d.tile_bytes.size(); ++i) {
    if (d.is_missing(i)) return false;
  }
  return true;
}

class TiffJpegTiles : public JpegTiles {
 public:
  TiffJpegTiles(std::shared_ptr<const storage::Object> file, std::vector<TiffDirectory> directories)
      : file_(std::move(file)), directories_(std::move(directories)) {
    for (auto& d : directories_) {
      levels_.push_back({d.height, d.width, d.tile_height, d.tile_width});
      d.description.clear();
    }
  }

  const std::vector<JpegTileLevel>& levels() const override { return levels_; }

  std::vector<std::byte> tile(int level, std::int64_t tile_y, std::int64_t tile_x) const override {
    if (level < 0 || level >= static_cast<int>(levels_.size())) {
      fail(ErrorCode::usage, "{}: has {} levels of JPEG tiles, level {} was asked for",
           file_->describe(), levels_.size(), level);
    }
    const TiffDirectory& d = directories_[static_cast<std::size_t>(level)];
    if (tile_y < 0 || tile_x < 0 || tile_y >= d.tiles_down() || tile_x >= d.tiles_across()) {
      fail(ErrorCode::usage, "{}: level {} has {}x{} tiles, tile row {}, column {} was asked for",
           file_->describe(), level, d.tiles_across(), d.tiles_down(), tile_y, tile_x);
    }
    const auto index = static_cast<std::size_t>(tile_y * d.tiles_across() + tile_x);
    if (d.is_missing(index)) return {};
    return with_context(
        fmt::format("level {}, tile row {}, column {}", level, tile_y, tile_x), [&] {
          if (d.tile_offsets[index] > file_->size_bytes() ||
              d.tile_bytes[index] > file_->size_bytes() - d.tile_offsets[index]) {
            fail(ErrorCode::corrupt,
                 "{}: the tile lies at bytes {} to {}, but the file ends at {}; it is truncated or "
                 "damaged",
                 file_->describe(), d.tile_offsets[index],
                 d.tile_offsets[index] + d.tile_bytes[index], file_->size_bytes());
          }
          std::vector<std::byte> raw(d.tile_bytes[index]);
          file_->read(d.tile_offsets[index], raw);
          auto jpeg = splice_jpeg_tile(d.jpeg_tables, raw, d.photometric == kRgb, d.tile_height,
                                       d.tile_width);
          if (!jpeg) {
            fail(ErrorCode::corrupt, "{}: the tile at byte {} is not a colour JPEG of {}x{} pixels",
                 file_->describe(), d.tile_offsets[index], d.tile_width, d.tile_height);
          }
          return std::move(*jpeg);
        });
  }

 private:
  std::shared_ptr<const storage::Object> file_;
  std::vector<TiffDirectory> directories_;
  std::vector<JpegTileLevel> levels_;
};

/// Levels in the slide reader's order. For an Aperio slide: every tiled directory, in file order.
/// For a TIFF: its pyramid, including SubIFDs; for one that OpenSlide reads its levels, which are
/// the first directory and the tiled ones marked as reduced, by falling width.
std::vector<TiffDirectory> pick_levels(const storage::Object& file, const std::string& vendor) {
  std::vector<TiffDirectory> levels;
  bool by_openslide = vendor == "aperio";
  if (vendor != "aperio") {
    TiffPages pages = choose_tiff_pages(file);
    if (!pages.planes.empty()) return {};
    by_openslide =
        vendor == "generic-tiff" && pages.is_first && pages.levels[0].sub_directories.empty();
    levels = std::move(pages.levels);
  }
  if (by_openslide) {
    levels.clear();
    bool damaged = false;
    auto all = read_whole_tiff_directories(file, damaged);
    for (std::size_t i = 0; i < all.size(); ++i) {
      const bool level =
          i == 0 ||
          (all[i].tiled() && (vendor == "aperio" || (all[i].subfile_type & kReducedImage) != 0));
      if (level) levels.push_back(std::move(all[i]));
    }
  }
  if (vendor == "generic-tiff") {
    std::stable_sort(levels.begin(), levels.end(),
                     [](const auto& a, const auto& b) { return a.width > b.width; });
  }
  std::vector<TiffDirectory> kept;
  for (std::size_t i = 0; i < levels.size(); ++i) {
    // OpenSlide draws a missing tile of an Aperio level from the level above it.
    const bool whole = i == 0 || vendor != "aperio" || complete(levels[i]);
    if (qualifies(levels[i]) && whole) {
      kept.push_back(std::move(levels[i]));
    } else if (i == 0) {
      return {};
    }
  }
  return kept;
}

/// Compares level 0's first, middle and largest tiles with the slide reader, so that a missed rule
/// of a format shows here.
bool agrees(const JpegTiles& tiles, const TiffDirectory& level0, const SlideReader& slide) {
  const JpegTileLevel& size = tiles.levels()[0];
  if (slide.info().levels[0].height != size.height || slide.info().levels[0].width != size.width)
    return false;
  const auto largest = std::max_element(level0.tile_bytes.begin(), level0.tile_bytes.end()) -
                       level0.tile_bytes.begin();
  const std::int64_t count = level0.tiles_across() * level0.tiles_down();
  std::vector<std::uint8_t> decoded(
      static_cast<std::size_t>(size.tile_height * size.tile_width * 3)),
      read(decoded.size());
  const std::int64_t stride = size.tile_width * 3;
  for (const std::int64_t index :
       {std::int64_t{0}, count / 2, static_cast<std::int64_t>(largest)}) {
    const std::int64_t ty = index / level0.tiles_across(), tx = index % level0.tiles_across();
    const auto jpeg = tiles.tile(0, ty, tx);
    if (jpeg.empty()) continue;
    pixels::decode_jpeg_rgb(jpeg, "tile", size.tile_height, size.tile_width, decoded.data(),
                            stride);
    const std::int64_t rows = std::min(size.tile_height, size.height - ty * size.tile_height);
    const std::int64_t bytes = std::min(size.tile_width, size.width - tx * size.tile_width) * 3;
    slide.read(0, ty * size.tile_height, tx * size.tile_width, rows, bytes / 3, read.data(),
               stride);
    for (std::int64_t y = 0; y < rows; ++y) {
      if (std::memcmp(decoded.data() + y * stride, read.data() + y * stride,
                      static_cast<std::size_t>(bytes)) != 0)
        return false;
    }
  }
  return true;
}

}  // namespace

std::unique_ptr<JpegTiles> JpegTiles::open(const std::string& path) {
  if (file_kind(path) != FileKind::tiff) return nullptr;
  const OpenSlideLibrary* openslide = openslide_library();
  const char* known = openslide != nullptr ? openslide->detect_vendor(path.c_str()) : nullptr;
  const std::string vendor = known != nullptr ? known : "tiff";
  if (vendor != "aperio" && vendor != "generic-tiff" && vendor != "tiff") return nullptr;
  const auto file = storage::open_input(path);
  auto levels = pick_levels(*file, vendor);
  if (levels.empty()) return nullptr;
  TiffDirectory level0 = levels[0];
  auto tiles = std::make_unique<TiffJpegTiles>(file, std::move(levels));
  try {
    const auto slide = vendor == "aperio"
                           ? open_with_openslide(*openslide, path, vendor)
                           : open_tiff_slide(path, known != nullptr ? openslide : nullptr);
    if (!agrees(*tiles, level0, *slide)) return nullptr;
  } catch (const Error& error) {
    if (error.code() == ErrorCode::io) throw;
    return nullptr;  // the slide reader reports what is wrong with the file
  }
  return tiles;
}

}  // namespace headrace::imaging
