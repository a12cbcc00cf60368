#include "headrace/imaging/slide/tiff_slide.hpp"

#include <tiff.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "headrace/core/error.hpp"
#include "headrace/imaging/slide/described_slide.hpp"
#include "headrace/imaging/slide/encoded_tile_slide.hpp"
#include "headrace/imaging/slide/openslide_slide.hpp"
#include "headrace/imaging/slide/tiff_level_slide.hpp"
#include "headrace/imaging/slide/tiff_levels_slide.hpp"
#include "headrace/imaging/tiff/tiff_colours.hpp"
#include "headrace/imaging/tiff/tiff_pages.hpp"
#include "headrace/imaging/tiff/tiff_picture.hpp"
#include "headrace/imaging/tiff/tiff_pixel_size.hpp"

namespace headrace::imaging {
namespace {

/// Whether libtiff gives level 0 as it is stored, or with transparency on white: grey and RGB of 8
/// bits. OpenSlide has the colours of all others.
bool plain_pixels(const TiffDirectory& d) {
  const bool rgb = d.photometric == PHOTOMETRIC_RGB;
  const bool grey = d.photometric == PHOTOMETRIC_MINISBLACK;
  return d.bits == 8 && (rgb || grey);
}

/// Level 0 alone, by libtiff.
std::unique_ptr<SlideReader> open_level_0(const SlideFile& file, const TiffPages& pages) {
  std::vector<std::unique_ptr<TiffImage>> level0;
  level0.push_back(open_tiff_picture(file.object, pages));
  return open_tiff_levels(file.name, std::move(level0));
}

/// Null where OpenSlide can't read it: libtiff reads some that it can't (planar, other sample
/// counts).
std::unique_ptr<SlideReader> open_by_openslide(const SlideFile& file, const TiffPages& pages) {
  std::unique_ptr<SlideReader> slide;
  try {
    slide = open_with_openslide(file);
  } catch (const Error&) {
    return nullptr;  // libtiff's error tells more
  }
  if (!plain_pixels(pages.levels[0])) return slide;
  std::unique_ptr<SlideReader> level0;
  try {
    level0 = open_level_0(file, pages);
  } catch (const Error& error) {
    if (error.code() == ErrorCode::io) throw;
    return slide;  // libtiff refuses a file that OpenSlide reads
  }
  return with_tiff_level(std::move(slide), std::move(level0));
}

/// Adds the levels that the file stores of the picture that is the slide, where `slide` has only
/// it: levels in SubIFDs (OME-TIFF), which OpenSlide ignores, or reduced pictures of a codec that
/// OpenSlide does not know.
std::unique_ptr<SlideReader> with_smaller_levels(std::unique_ptr<SlideReader> slide,
                                                 const SlideFile& file, const TiffPages& pages) {
  const SlideLevel& level0 = slide->info().levels[0];
  if (slide->info().levels.size() != 1 || pages.levels[0].height != level0.height ||
      pages.levels[0].width != level0.width) {
    return slide;
  }
  std::vector<std::unique_ptr<TiffImage>> levels;
  for (std::size_t k = 1; k < pages.levels.size(); ++k) {
    try {
      auto image = open_tiff_picture(file.object, pages, k);
      if (!image->why_not_rgb()) levels.push_back(std::move(image));
    } catch (const Error& error) {
      if (error.code() == ErrorCode::io) throw;
      // A level that can't be read: the slide is whole without it.
    }
  }
  return with_tiff_levels(std::move(slide), file.name, std::move(levels));
}

/// OpenSlide takes the first page of every tiled TIFF, and as its levels all that are in tiles and
/// marked as reduced.
bool by_openslide(const SlideFile& file, const TiffPages& pages) {
  return !file.vendor.empty() && pages.is_first && pages.planes.empty();
}

std::unique_ptr<SlideReader> open_pixels(const SlideFile& file, const TiffPages& pages) {
  std::unique_ptr<SlideReader> slide;
  if (by_openslide(file, pages)) slide = open_by_openslide(file, pages);
  if (!slide) slide = open_level_0(file, pages);
  return with_smaller_levels(std::move(slide), file, pages);
}

/// The directories of the levels, by falling width.
std::vector<TiffDirectory> level_directories(const SlideFile& file, const TiffPages& pages) {
  if (!pages.planes.empty()) return {};
  if (!by_openslide(file, pages) || !pages.levels[0].sub_directories.empty()) return pages.levels;
  bool damaged = false;
  std::vector<TiffDirectory> levels;
  for (TiffDirectory& d : read_whole_tiff_directories(*file.object, damaged)) {
    const bool reduced = d.tiled() && (d.subfile_type & FILETYPE_REDUCEDIMAGE) != 0;
    if (levels.empty() || reduced) levels.push_back(std::move(d));
  }
  std::stable_sort(levels.begin(), levels.end(),
                   [](const auto& a, const auto& b) { return a.width > b.width; });
  return levels;
}

}  // namespace

bool is_tiff_slide(const SlideFile& file) {
  return file.kind == FileKind::tiff && (file.vendor.empty() || file.vendor == "generic-tiff");
}

std::unique_ptr<SlideReader> open_tiff_slide(const SlideFile& file) {
  const TiffPages pages = choose_tiff_pages(*file.object);
  const TiffDirectory& level0 = pages.levels[0];
  if (const auto why = why_no_rgb(level0)) fail(ErrorCode::unsupported, "{}: {}", file.name, *why);
  auto slide = open_pixels(file, pages);
  SlideInfo info = slide->info();
  // OpenSlide's name for those that it would take, whether it is there or not, or reads this one:
  // the format is part of the dataset's hash.
  const bool generic = level0.tiled() && pages.is_first && pages.planes.empty();
  info.format = generic ? "generic-tiff" : "tiff";
  const PixelSize size = tiff_pixel_size(level0, pages.ome);
  info.mpp_y = size.mpp_y;
  info.mpp_x = size.mpp_x;
  info.notes.insert(info.notes.end(), pages.notes.begin(), pages.notes.end());
  if (const int samples = samples_left_out(level0); samples > 0)
    info.notes.push_back(make_note(NoteCode::samples_left_out, {static_cast<double>(samples)}));
  info.notes.insert(info.notes.end(), size.notes.begin(), size.notes.end());
  return with_encoded_tiles(with_info(std::move(slide), std::move(info)), file.object,
                            level_directories(file, pages));
}

}  // namespace headrace::imaging
