#include "headrace/imaging/slide/tiff_slide.hpp"

#include <tiff.h>

#include <utility>
#include <vector>

#include "headrace/core/error.hpp"
#include "headrace/imaging/slide/one_level_slide.hpp"
#include "headrace/imaging/slide/openslide_slide.hpp"
#include "headrace/imaging/slide/tiff_level_slide.hpp"
#include "headrace/imaging/slide/tiff_pyramid_slide.hpp"
#include "headrace/imaging/tiff/tiff_colours.hpp"
#include "headrace/imaging/tiff/tiff_pages.hpp"
#include "headrace/imaging/tiff/tiff_picture.hpp"
#include "headrace/imaging/tiff/tiff_pixel_size.hpp"
#include "headrace/storage/open_store.hpp"

namespace headrace::imaging {
namespace {

/// Level 0, by libtiff.
class TiffSlide : public OneLevelSlide {
 public:
  TiffSlide(std::string path, std::unique_ptr<TiffImage> tiff)
      : OneLevelSlide(std::move(path)), tiff_(std::move(tiff)) {
    const TiffInfo& size = tiff_->info();
    if (tiff_->why_not_rgb()) fail(ErrorCode::unsupported, "{}: {}", path_, *tiff_->why_not_rgb());
    info_.format = "tiff";
    info_.levels = {{size.height, size.width, 1.0, size.block_height, size.block_width}};
    info_.icc_profile = tiff_->icc_profile();
  }

 private:
  void read_inside(std::int64_t y0, std::int64_t x0, std::int64_t height, std::int64_t width,
                   std::uint8_t* dst, std::int64_t stride) const override {
    tiff_->read_rgb(y0, x0, height, width, dst, stride);
  }

  std::unique_ptr<TiffImage> tiff_;
};

/// A slide of which the TIFF's directory tells the facts.
class DescribedSlide : public SlideReader {
 public:
  DescribedSlide(std::unique_ptr<SlideReader> slide, const PixelSize& size,
                 const std::vector<Note>& notes)
      : slide_(std::move(slide)), info_(slide_->info()) {
    info_.mpp_y = size.mpp_y;
    info_.mpp_x = size.mpp_x;
    info_.notes.insert(info_.notes.end(), notes.begin(), notes.end());
    info_.notes.insert(info_.notes.end(), size.notes.begin(), size.notes.end());
  }

  const SlideInfo& info() const override { return info_; }
  void read(int level, std::int64_t y0, std::int64_t x0, std::int64_t height, std::int64_t width,
            std::uint8_t* dst, std::int64_t stride) const override {
    slide_->read(level, y0, x0, height, width, dst, stride);
  }
  void read_rgba(int level, std::int64_t y0, std::int64_t x0, std::int64_t height,
                 std::int64_t width, std::uint8_t* dst) const override {
    slide_->read_rgba(level, y0, x0, height, width, dst);
  }
  void read_patches(std::span<const SlidePatch> patches, std::int64_t height, std::int64_t width,
                    ThreadPool& pool) const override {
    slide_->read_patches(patches, height, width, pool);
  }

 private:
  std::unique_ptr<SlideReader> slide_;
  SlideInfo info_;
};

/// Whether libtiff gives level 0 as it is stored, or with transparency on white: grey and RGB of 8
/// bits. OpenSlide has the colours of all others.
bool plain_pixels(const TiffDirectory& d) {
  const bool rgb = d.photometric == PHOTOMETRIC_RGB;
  const bool grey = d.photometric == PHOTOMETRIC_MINISBLACK;
  return d.bits == 8 && (rgb || grey);
}

/// Null where OpenSlide can't read it: libtiff reads some that it can't (planar, other sample
/// counts).
std::unique_ptr<SlideReader> open_by_openslide(const std::string& path, const TiffPages& pages,
                                               const OpenSlideLibrary& openslide) {
  std::unique_ptr<SlideReader> slide;
  try {
    slide = open_with_openslide(openslide, path, "generic-tiff");
  } catch (const Error&) {
    return nullptr;  // libtiff's error tells more
  }
  if (!plain_pixels(pages.levels[0])) return slide;
  std::unique_ptr<SlideReader> level0;
  try {
    level0 = std::make_unique<TiffSlide>(path, open_tiff_picture(path, pages));
  } catch (const Error& error) {
    if (error.code() == ErrorCode::io) throw;
    return slide;  // libtiff refuses a file that OpenSlide reads
  }
  return with_tiff_level(std::move(slide), std::move(level0));
}

std::unique_ptr<SlideReader> open_pixels(const std::string& path, const TiffPages& pages,
                                         const OpenSlideLibrary* openslide) {
  std::unique_ptr<SlideReader> slide;
  // OpenSlide takes the first page of every tiled TIFF.
  if (openslide != nullptr && pages.is_first && pages.planes.empty())
    slide = open_by_openslide(path, pages, *openslide);
  if (!slide) slide = std::make_unique<TiffSlide>(path, open_tiff_picture(path, pages));
  return with_tiff_pyramid(std::move(slide), path, pages);
}

}  // namespace

std::unique_ptr<SlideReader> open_tiff_slide(const std::string& path,
                                             const OpenSlideLibrary* openslide) {
  const TiffPages pages = choose_tiff_pages(*storage::open_input(path));
  const TiffDirectory& level0 = pages.levels[0];
  if (const auto why = why_no_rgb(level0)) fail(ErrorCode::unsupported, "{}: {}", path, *why);
  std::vector<Note> notes = pages.notes;
  if (const int samples = samples_left_out(level0); samples > 0)
    notes.push_back(make_note(NoteCode::samples_left_out, {static_cast<double>(samples)}));
  return std::make_unique<DescribedSlide>(open_pixels(path, pages, openslide),
                                          tiff_pixel_size(level0, pages.ome), notes);
}

}  // namespace headrace::imaging
