#include "headrace/imaging/slide/slide_reader.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <utility>

#include "headrace/core/error.hpp"
#include "headrace/core/text.hpp"
#include "headrace/imaging/slide/jpeg_tile_slide.hpp"
#include "headrace/imaging/slide/openslide_slide.hpp"
#include "headrace/imaging/slide/plain_slide.hpp"
#include "headrace/imaging/slide/tiff_level_slide.hpp"
#include "headrace/imaging/slide/tiff_pyramid_slide.hpp"
#include "headrace/imaging/whole_file.hpp"

namespace headrace::imaging {
namespace {

constexpr std::array kSlideEndings{".svs", ".ndpi",    ".mrxs", ".scn", ".vms", ".vmu",
                                   ".bif", ".svslide", ".zvi",  ".czi", ".dcm"};

}  // namespace

std::unique_ptr<SlideReader> SlideReader::open(const std::string& path) {
  { const FileBytes exists(path); }
  const OpenSlideLibrary* openslide = openslide_library();
  const char* vendor = openslide != nullptr ? openslide->detect_vendor(path.c_str()) : nullptr;
  const std::string ending = lowered(std::filesystem::path(path).extension().string());
  const bool named_slide =
      std::find(kSlideEndings.begin(), kSlideEndings.end(), ending) != kSlideEndings.end();
  if (vendor == nullptr && openslide == nullptr && named_slide) {
    fail(ErrorCode::unsupported,
         "{}: {} slides need OpenSlide, which was not found; run tools/deps/install.sh, install "
         "libopenslide0, or name the "
         "library in HEADRACE_OPENSLIDE",
         path, ending);
  }
  if (vendor == nullptr) return with_tiff_pyramid(open_plain_slide(path), path);
  if (std::string(vendor) != "generic-tiff") {
    return with_jpeg_tiles(open_with_openslide(*openslide, path, vendor), path);
  }
  // OpenSlide takes every tiled TIFF as generic-tiff; libtiff reads some that OpenSlide can't
  // (planar, other sample counts).
  try {
    auto slide = with_tiff_level(open_with_openslide(*openslide, path, vendor), path);
    return with_jpeg_tiles(with_tiff_pyramid(std::move(slide), path), path);
  } catch (const Error&) {
    return with_tiff_pyramid(open_plain_slide(path), path);
  }
}

}  // namespace headrace::imaging
