#include "headrace/imaging/slide/slide_reader.hpp"

#include <string_view>
#include <utility>

#include "headrace/core/error.hpp"
#include "headrace/imaging/file_kind.hpp"
#include "headrace/imaging/slide/jpeg_tile_slide.hpp"
#include "headrace/imaging/slide/openslide_slide.hpp"
#include "headrace/imaging/slide/place_on_level.hpp"
#include "headrace/imaging/slide/plain_slide.hpp"
#include "headrace/imaging/slide/slide_formats.hpp"
#include "headrace/imaging/slide/tiff_slide.hpp"
#include "headrace/imaging/slide/transparent_outside.hpp"
#include "headrace/imaging/tiff/tiff_blocks.hpp"
#include "headrace/imaging/tiff/tiff_colours.hpp"
#include "headrace/storage/open_store.hpp"

namespace headrace::imaging {
namespace {

/// Hamamatsu's NDPI writes offsets beyond 4 GiB in a way of its own, which OpenSlide knows.
void check_blocks(const std::string& path, std::string_view vendor) {
  if (vendor == "hamamatsu") return;
  const auto file = storage::open_input(path);
  std::vector<TiffDirectory> directories;
  try {
    bool damaged = false;
    directories = read_whole_tiff_directories(*file, damaged);
  } catch (const Error& error) {
    if (error.code() == ErrorCode::io) throw;
    return;  // OpenSlide reports what is wrong with it
  }
  check_tiff_blocks(*file, directories);
}

/// OpenSlide cuts a scanner's TIFF of more than 8 bits to the high byte: black where 12 are used.
void check_depth(const std::string& path) {
  int bits = 0;
  try {
    bits = read_first_tiff_directory(*storage::open_input(path)).bits;
  } catch (const Error& error) {
    if (error.code() == ErrorCode::io) throw;
    return;  // OpenSlide reports what is wrong with it
  }
  if (bits > 8) fail(ErrorCode::unsupported, "{}: {}", path, why_not_deep(bits));
}

}  // namespace

void SlideReader::read_rgba(int level, std::int64_t y0, std::int64_t x0, std::int64_t height,
                            std::int64_t width, std::uint8_t* dst) const {
  if (level < 0 || level >= static_cast<int>(info().levels.size())) {
    fail(ErrorCode::usage, "the slide has {} levels, level {} was asked for", info().levels.size(),
         level);
  }
  const SlideLevel& size = info().levels[static_cast<std::size_t>(level)];
  read_on_transparent(
      size.height, size.width, place_on_level(y0, size.downsample).pixel,
      place_on_level(x0, size.downsample).pixel, height, width, dst,
      [&](const Box2& box, std::uint8_t* to) {
        std::vector<std::uint8_t> rgb(static_cast<std::size_t>(box.height * box.width * 3));
        read(level, box.y0, box.x0, box.height, box.width, rgb.data(), box.width * 3);
        for (std::int64_t y = 0; y < box.height; ++y)
          opaque_rgba(rgb.data() + y * box.width * 3, box.width, to + y * width * 4);
      });
}

void SlideReader::read_patches(std::span<const SlidePatch> patches, std::int64_t height,
                               std::int64_t width, ThreadPool& pool) const {
  pool.parallel_for(patches.size(), [&](std::size_t i) {
    const SlidePatch& patch = patches[i];
    read(patch.level, patch.y0, patch.x0, height, width, patch.dst, width * 3);
  });
}

std::unique_ptr<SlideReader> SlideReader::open(const std::string& path) {
  storage::open_input(path);  // says what is not there, or is no file
  const OpenSlideLibrary* openslide = openslide_library();
  const char* vendor = openslide != nullptr ? openslide->detect_vendor(path.c_str()) : nullptr;
  const SlideFormat* named = slide_format_of(path);
  if (vendor == nullptr && openslide == nullptr && named != nullptr && named->by_openslide) {
    fail(ErrorCode::unsupported,
         "{}: {} slides need OpenSlide, which was not found; run tools/deps/install.sh, install "
         "libopenslide0, or name the "
         "library in HEADRACE_OPENSLIDE",
         path, named->ending);
  }
  if (vendor == nullptr) return open_plain_slide(path);
  if (std::string(vendor) == "generic-tiff")
    return with_jpeg_tiles(open_tiff_slide(path, openslide), path);
  if (file_kind(path) == FileKind::tiff) {
    check_depth(path);
    check_blocks(path, vendor);
  }
  return with_jpeg_tiles(open_with_openslide(*openslide, path, vendor), path);
}

}  // namespace headrace::imaging
