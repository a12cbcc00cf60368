#include "headrace/imaging/slide/aperio_slide.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "headrace/core/error.hpp"
#include "headrace/imaging/slide/aperio_facts.hpp"
#include "headrace/imaging/slide/described_slide.hpp"
#include "headrace/imaging/slide/encoded_tile_slide.hpp"
#include "headrace/imaging/slide/openslide_slide.hpp"
#include "headrace/imaging/slide/tiff_levels_slide.hpp"
#include "headrace/imaging/tiff/tiff_blocks.hpp"
#include "headrace/imaging/tiff/tiff_colours.hpp"
#include "headrace/imaging/tiff/tiff_directory.hpp"

namespace headrace::imaging {
namespace {

constexpr std::uint64_t kMaxDescription = std::uint64_t{1} << 20;

bool complete(const TiffDirectory& d) {
  for (std::size_t i = 0; i < d.tile_bytes.size(); ++i) {
    if (d.is_missing(i)) return false;
  }
  return true;
}

struct AperioLevels {
  std::vector<TiffDirectory> whole;       ///< level 0 first
  std::vector<TiffDirectory> lack_tiles;  ///< smaller ones, of which OpenSlide draws tiles
  bool damaged = false;                   ///< what follows a directory can't be read
};

AperioLevels levels_of(std::vector<TiffDirectory> found) {
  AperioLevels levels;
  for (TiffDirectory& d : found) {
    if (!d.tiled()) continue;  // thumbnail, label and macro
    const bool usable = levels.whole.empty() || complete(d);
    (usable ? levels.whole : levels.lack_tiles).push_back(std::move(d));
  }
  return levels;
}

std::unique_ptr<SlideReader> open_by_tiff(const SlideFile& file, const AperioLevels& levels) {
  std::vector<std::unique_ptr<TiffImage>> images;
  for (std::size_t i = 0; i < levels.whole.size(); ++i) {
    const TiffDirectory& level = levels.whole[i];
    if (const auto why = why_no_rgb(level)) fail(ErrorCode::unsupported, "{}: {}", file.name, *why);
    if (i > 0 && level.width > levels.whole[i - 1].width) {
      fail(ErrorCode::malformed, "{}: its levels are not in the order of their sizes", file.name);
    }
    images.push_back(TiffImage::open(file.object, level.at));
  }
  auto slide = open_tiff_levels(file.name, std::move(images));
  SlideInfo info = slide->info();
  info.format = "aperio";
  const std::string description =
      read_tiff_text(*file.object, levels.whole[0].whole_description, kMaxDescription);
  take_aperio_facts(info, description);
  check_aperio_facts(info, description, file.name);
  if (const auto& without = levels.lack_tiles; !without.empty()) {
    info.notes.push_back(
        make_note(NoteCode::pages_left_out,
                  {static_cast<double>(without.size()), static_cast<double>(without[0].height),
                   static_cast<double>(without[0].width)}));
  }
  if (levels.damaged) info.notes.push_back(make_note(NoteCode::pages_unreadable));
  return with_info(std::move(slide), std::move(info));
}

}  // namespace

bool is_aperio_slide(const SlideFile& file) {
  if (file.openslide != nullptr || file.kind != FileKind::tiff) return file.vendor == "aperio";
  try {
    const TiffDirectory first = read_first_tiff_directory(*file.object);
    return first.tiled() && first.description.starts_with("Aperio");
  } catch (const Error& error) {
    if (error.code() == ErrorCode::io) throw;
    return false;  // the reader of TIFFs says what is wrong with it
  }
}

std::unique_ptr<SlideReader> open_aperio_slide(const SlideFile& file) {
  std::unique_ptr<SlideReader> slide;
  if (file.openslide != nullptr) slide = open_scanner_slide(file);
  AperioLevels levels;
  try {
    bool damaged = false;
    auto found = read_whole_tiff_directories(*file.object, damaged);
    if (!slide) check_tiff_blocks(*file.object, found);
    levels = levels_of(std::move(found));
    levels.damaged = damaged;
  } catch (const Error& error) {
    if (!slide || error.code() == ErrorCode::io) throw;
    return slide;  // OpenSlide reads what is read here as damaged
  }
  if (!slide) slide = open_by_tiff(file, levels);
  return with_encoded_tiles(std::move(slide), file.object, std::move(levels.whole));
}

}  // namespace headrace::imaging
