#include "headrace/imaging/slide/slide_reader.hpp"

#include <filesystem>
#include <string>
#include <utility>

#include "headrace/core/error.hpp"
#include "headrace/imaging/slide/openslide_slide.hpp"
#include "headrace/imaging/slide/place_on_level.hpp"
#include "headrace/imaging/slide/slide_file.hpp"
#include "headrace/imaging/slide/slide_formats.hpp"
#include "headrace/imaging/slide/transparent_outside.hpp"
#include "headrace/storage/cached_blocks.hpp"
#include "headrace/storage/open_store.hpp"

namespace headrace::imaging {
namespace {

[[noreturn]] void refuse_without_openslide(const SlideFile& file) {
  const std::string ending = std::filesystem::path(file.name).extension().string();
  if (file.object->local_path().empty()) {
    fail(ErrorCode::unsupported,
         "{}: {} slides are read by OpenSlide, which opens files of this machine alone; copy the "
         "slide to a folder",
         file.name, ending);
  }
  fail(ErrorCode::unsupported,
       "{}: {} slides need OpenSlide, which was not found; run tools/deps/install.sh, install "
       "libopenslide0, or name the "
       "library in HEADRACE_OPENSLIDE",
       file.name, ending);
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

std::unique_ptr<SlideReader> SlideReader::open(std::shared_ptr<const storage::Object> object) {
  const SlideFile file(storage::with_cached_blocks(std::move(object)));
  const SlideFormat* named = slide_format_of(file.name);
  // Some scanners' formats are TIFFs as well: without OpenSlide their names tell them.
  if (file.openslide == nullptr && named != nullptr && named->open == nullptr)
    refuse_without_openslide(file);
  if (const SlideFormat* format = slide_format_by_bytes(file)) return format->open(file);
  if (!file.vendor.empty()) return open_scanner_slide(file);
  fail(ErrorCode::malformed,
       "{}: is neither a slide nor an image that can be read: it starts with {}, expected a slide "
       "format of OpenSlide, TIFF, PNG or JPEG",
       file.name, describe_head(*file.object));
}

std::unique_ptr<SlideReader> SlideReader::open(const std::string& path) {
  return open(storage::open_input(path));
}

}  // namespace headrace::imaging
