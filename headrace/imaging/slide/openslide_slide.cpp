#include "headrace/imaging/slide/openslide_slide.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <mutex>
#include <string_view>

#include "headrace/core/error.hpp"
#include "headrace/imaging/pixel_size.hpp"
#include "headrace/imaging/slide/aperio_facts.hpp"
#include "headrace/imaging/slide/transparent_outside.hpp"
#include "headrace/imaging/tiff/tiff_blocks.hpp"
#include "headrace/imaging/tiff/tiff_colours.hpp"

namespace headrace::imaging {
namespace {

constexpr std::int64_t kMaxIccBytes = 16 << 20;
constexpr std::int64_t kCallPixels = 1 << 24;

/// Parts of OpenSlide's words for sound files that it does not read: variants, and of DICOM focal
/// planes, planes of colours and grey pictures. Source: openslide-vendor-dicom.c of OpenSlide 4.0.
constexpr std::array<std::string_view, 5> kVariants{"nsupported", "ot supported", "Attribute ",
                                                    "Couldn't read PlanarConfiguration",
                                                    "Couldn't get image flavor"};

std::optional<double> number(const char* text) {
  if (text == nullptr) return std::nullopt;
  char* end = nullptr;
  const double value = std::strtod(text, &end);
  if (end == text || !std::isfinite(value) || value <= 0) return std::nullopt;
  return value;
}

/// Premultiplied ARGB on white: v + 255 - a is v where a = 255 and 255 where a = 0.
void argb_to_rgb(const std::uint32_t* argb, std::int64_t count, std::uint8_t* rgb) {
  for (std::int64_t i = 0; i < count; ++i) {
    const std::uint32_t p = argb[i];
    const std::uint32_t white = 255 - (p >> 24);
    rgb[i * 3] = std::uint8_t(((p >> 16) & 255) + white);
    rgb[i * 3 + 1] = std::uint8_t(((p >> 8) & 255) + white);
    rgb[i * 3 + 2] = std::uint8_t((p & 255) + white);
  }
}

class OpenSlideSlide : public SlideReader {
 public:
  OpenSlideSlide(const OpenSlideLibrary& library, std::string path, const std::string& vendor)
      : library_(library), path_(std::move(path)), handle_(open_handle()) {
    info_.format = vendor;
    read_levels();
    read_facts();
    if (const char* error = library_.get_error(handle_.get())) refuse(error);
  }

  const SlideInfo& info() const override { return info_; }

  void read(int level, std::int64_t y0, std::int64_t x0, std::int64_t height, std::int64_t width,
            std::uint8_t* dst, std::int64_t stride) const override {
    check_level(level);
    if (height < 1 || width < 1) return;
    // One call where possible: at levels with an uneven downsample OpenSlide rounds the place of
    // each call.
    const std::int64_t rows = std::clamp<std::int64_t>(kCallPixels / width, 1, height);
    thread_local std::vector<std::uint32_t> argb;
    argb.resize(std::max(argb.size(), std::size_t(rows * width)));
    for (std::int64_t y = 0; y < height; y += rows) {
      const std::int64_t count = std::min(rows, height - y);
      read_argb(level, y0 + y, x0, count, width, argb.data());
      for (std::int64_t r = 0; r < count; ++r)
        argb_to_rgb(argb.data() + r * width, width, dst + (y + r) * stride);
    }
  }

  void read_rgba(int level, std::int64_t y0, std::int64_t x0, std::int64_t height,
                 std::int64_t width, std::uint8_t* dst) const override {
    check_level(level);
    read_at(level, y0, x0, height, width, reinterpret_cast<std::uint32_t*>(dst));
    argb_to_rgba(dst, height * width);
  }

 private:
  using Handle = std::shared_ptr<OpenSlideHandle>;

  void check_level(int level) const {
    if (level >= 0 && level < int(info_.levels.size())) return;
    fail(ErrorCode::usage, "{}: has {} levels, level {} was asked for", path_, info_.levels.size(),
         level);
  }

  Handle open_handle() const {
    OpenSlideHandle* raw = library_.open(path_.c_str());
    if (raw == nullptr) fail(ErrorCode::malformed, "{}: OpenSlide does not know this file", path_);
    Handle handle(raw, library_.close);
    if (const char* error = library_.get_error(raw)) refuse(error);
    return handle;
  }

  /// OpenSlide knows the format by its first bytes, so what it can't open is damaged, or a variant
  /// that it names as unsupported.
  [[noreturn]] void refuse(std::string_view why) const {
    const bool variant = std::any_of(
        kVariants.begin(), kVariants.end(),
        [&](std::string_view words) { return why.find(words) != std::string_view::npos; });
    fail(variant ? ErrorCode::unsupported : ErrorCode::corrupt,
         "{}: OpenSlide cannot open it: {}; the slide is {}", path_, why,
         variant ? "of a kind that OpenSlide does not read" : "damaged or of an unknown kind");
  }

  void read_levels() {
    const std::int32_t count = library_.get_level_count(handle_.get());
    for (std::int32_t level = 0; level < count; ++level) {
      SlideLevel info;
      library_.get_level_dimensions(handle_.get(), level, &info.width, &info.height);
      info.downsample = library_.get_level_downsample(handle_.get(), level);
      if (info.height < 1 || info.width < 1) refuse("it has a level without pixels");
      info_.levels.push_back(info);
    }
    if (info_.levels.empty()) refuse("it has no levels");
  }

  const char* property(const char* name) const {
    return library_.get_property_value(handle_.get(), name);
  }

  void read_facts() {
    const auto x = number(property("openslide.mpp-x")), y = number(property("openslide.mpp-y"));
    if (x && y) {
      const PixelSize size = stated_pixel_size(*y, *x);
      info_.mpp_x = size.mpp_x;
      info_.mpp_y = size.mpp_y;
      info_.notes = size.notes;
    }
    info_.objective_power = number(property("openslide.objective-power"));
    const char* description = property("tiff.ImageDescription");
    if (info_.format == "aperio" && description != nullptr)
      check_aperio_facts(info_, description, path_);
    read_bounds();
    const char* colour = property("openslide.background-color");
    if (colour != nullptr && std::string_view(colour).size() == 6 &&
        std::string_view(colour).find_first_not_of("0123456789abcdefABCDEF") == std::string::npos) {
      info_.background_colour = colour;
    }
    if (library_.get_icc_profile_size == nullptr || library_.read_icc_profile == nullptr) return;
    const std::int64_t size = library_.get_icc_profile_size(handle_.get());
    if (size > 0 && size <= kMaxIccBytes) {
      info_.icc_profile.resize(std::size_t(size));
      library_.read_icc_profile(handle_.get(), info_.icc_profile.data());
    }
  }

  void read_bounds() {
    std::array<std::int64_t, 4> found{};
    const std::array names{"openslide.bounds-y", "openslide.bounds-x", "openslide.bounds-height",
                           "openslide.bounds-width"};
    for (std::size_t i = 0; i < names.size(); ++i) {
      const char* text = property(names[i]);
      char* end = nullptr;
      if (text == nullptr) return;
      found[i] = std::strtoll(text, &end, 10);
      if (end == text || *end != '\0') return;
    }
    info_.bounds = Box2{found[0], found[1], found[2], found[3]};
  }

  Handle current() const {
    const std::lock_guard lock(mutex_);
    if (!handle_) handle_ = open_handle();
    return handle_;
  }

  void read_argb(int level, std::int64_t y, std::int64_t x, std::int64_t height, std::int64_t width,
                 std::uint32_t* argb) const {
    const double scale = info_.levels[std::size_t(level)].downsample;
    const auto level0 = [&](std::int64_t v) {
      return scale == 1 ? v : std::llround(double(v) * scale);
    };
    read_at(level, level0(y), level0(x), height, width, argb);
  }

  /// y and x: pixels of level 0.
  void read_at(int level, std::int64_t y, std::int64_t x, std::int64_t height, std::int64_t width,
               std::uint32_t* argb) const {
    const Handle handle = current();
    library_.read_region(handle.get(), argb, x, y, level, width, height);
    if (const char* error = library_.get_error(handle.get())) {
      const std::string why = error;
      // OpenSlide's handle keeps an error for ever; the next read starts with a fresh handle.
      const std::lock_guard lock(mutex_);
      if (handle_ == handle) handle_.reset();
      fail(ErrorCode::corrupt,
           "{}: level {}, {}x{} pixels from column {}, row {} of level 0 cannot be read: {}", path_,
           level, width, height, x, y, why);
    }
  }

  const OpenSlideLibrary& library_;
  std::string path_;
  SlideInfo info_;
  mutable std::mutex mutex_;
  mutable Handle handle_;
};

/// Hamamatsu's NDPI writes offsets beyond 4 GiB in a way of its own, which OpenSlide knows.
void check_tiff(const SlideFile& file) {
  const bool offsets_of_its_own = file.vendor == "hamamatsu";
  std::vector<TiffDirectory> directories;
  try {
    bool damaged = false;
    if (offsets_of_its_own) {
      directories.push_back(read_first_tiff_directory(*file.object));
    } else {
      directories = read_whole_tiff_directories(*file.object, damaged);
    }
  } catch (const Error& error) {
    if (error.code() == ErrorCode::io) throw;
    return;  // OpenSlide reports what is wrong with it
  }
  if (const int bits = directories[0].bits; bits > 8)
    fail(ErrorCode::unsupported, "{}: {}", file.name, why_not_deep(bits));
  if (!offsets_of_its_own) check_tiff_blocks(*file.object, directories);
}

}  // namespace

std::unique_ptr<SlideReader> open_with_openslide(const SlideFile& file) {
  return std::make_unique<OpenSlideSlide>(*file.openslide, file.object->local_path(), file.vendor);
}

std::unique_ptr<SlideReader> open_scanner_slide(const SlideFile& file) {
  if (file.kind == FileKind::tiff) check_tiff(file);
  return open_with_openslide(file);
}

}  // namespace headrace::imaging
