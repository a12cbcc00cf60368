#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <tuple>

#include "headrace/cohort/store_slide.hpp"
#include "headrace/core/error.hpp"
#include "headrace/imaging/file_kind.hpp"
#include "headrace/imaging/slide/openslide_library.hpp"
#include "headrace/imaging/slide/place_on_level.hpp"
#include "headrace/imaging/slide/private_facts.hpp"
#include "headrace/imaging/slide/slide_formats.hpp"
#include "headrace/imaging/slide/slide_reader.hpp"
#include "python/src/bindings.hpp"
#include "python/src/lent_arrays.hpp"
#include "python/src/python_file.hpp"
#include "python/src/unlocked.hpp"

namespace headrace::python {
namespace {

using imaging::PrivateFacts;
using imaging::SlideReader;
using Pixels = nb::ndarray<nb::numpy, std::uint8_t>;
using Patches = nb::ndarray<std::uint8_t, nb::ndim<4>, nb::c_contig, nb::device::cpu>;
using Places = nb::ndarray<const std::int64_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Released = nb::call_guard<Unlocked>;

/// A (height, width, channels) array.
template <typename Fill>
Pixels picture(std::int64_t height, std::int64_t width, std::size_t channels, const Fill& fill) {
  if (height < 0 || width < 0) {
    fail(ErrorCode::usage, "a region of {}x{} pixels was asked for; sizes are not negative", width,
         height);
  }
  return lent_array<std::uint8_t>(
      {static_cast<std::size_t>(height), static_cast<std::size_t>(width), channels}, fill);
}

const imaging::SlideLevel& level_of(const SlideReader& slide, std::int64_t level) {
  const auto& levels = slide.info().levels;
  if (level < 0 || level >= static_cast<std::int64_t>(levels.size())) {
    fail(ErrorCode::usage, "the slide has {} levels, level {} was asked for; levels count from 0",
         levels.size(), level);
  }
  return levels[static_cast<std::size_t>(level)];
}

Pixels read_rgba(const SlideReader& slide, std::int64_t y, std::int64_t x, std::int64_t level,
                 std::int64_t height, std::int64_t width) {
  level_of(slide, level);
  return picture(height, width, 4, [&](std::uint8_t* to) {
    slide.read_rgba(static_cast<int>(level), y, x, height, width, to);
  });
}

/// The pixels of a level from its own (y, x).
Pixels read_level(const SlideReader& slide, std::int64_t y, std::int64_t x, std::int64_t level,
                  std::int64_t height, std::int64_t width) {
  level_of(slide, level);
  return picture(height, width, 3, [&](std::uint8_t* to) {
    slide.read(static_cast<int>(level), y, x, height, width, to, width * 3);
  });
}

Pixels read_rgb(const SlideReader& slide, std::int64_t y, std::int64_t x, std::int64_t level,
                std::int64_t height, std::int64_t width) {
  const double downsample = level_of(slide, level).downsample;
  return read_level(slide, imaging::place_on_level(y, downsample).pixel,
                    imaging::place_on_level(x, downsample).pixel, level, height, width);
}

Pixels new_patches(std::size_t count, std::size_t height, std::size_t width) {
  return lent_array<std::uint8_t>({count, height, width, 3}, [](std::uint8_t*) {});
}

/// places: rows of (index into slides, y, x in pixels of level 0, level).
void read_patches(const std::vector<std::shared_ptr<SlideReader>>& slides, const Places& places,
                  const Patches& out, int threads) {
  const auto height = static_cast<std::int64_t>(out.shape(1));
  const auto width = static_cast<std::int64_t>(out.shape(2));
  std::vector<std::vector<imaging::SlidePatch>> patches(slides.size());
  for (std::size_t i = 0; i < places.shape(0); ++i) {
    const auto slide = static_cast<std::size_t>(places(i, 0));
    const double downsample = level_of(*slides.at(slide), places(i, 3)).downsample;
    patches[slide].push_back({static_cast<int>(places(i, 3)),
                              imaging::place_on_level(places(i, 1), downsample).pixel,
                              imaging::place_on_level(places(i, 2), downsample).pixel,
                              out.data() + static_cast<std::int64_t>(i) * height * width * 3});
  }
  const Unlocked unlocked;
  ThreadPool pool(threads);
  pool.parallel_for(slides.size(), [&](std::size_t i) {
    slides[i]->read_patches(patches[i], height, width, pool);
  });
}

/// (width, height, downsample, tile width, tile height); 0: no tiles, or not known.
using Level = std::tuple<std::int64_t, std::int64_t, double, std::int64_t, std::int64_t>;

std::vector<Level> levels_of(const SlideReader& slide) {
  std::vector<Level> levels;
  for (const auto& level : slide.info().levels)
    levels.emplace_back(level.width, level.height, level.downsample, level.block_width,
                        level.block_height);
  return levels;
}

/// (x, y, width, height).
std::optional<std::tuple<std::int64_t, std::int64_t, std::int64_t, std::int64_t>> bounds_of(
    const SlideReader& slide) {
  const auto& box = slide.info().bounds;
  if (!box) return std::nullopt;
  return std::tuple{box->x0, box->y0, box->width, box->height};
}

nb::bytes bytes_of(const std::vector<std::byte>& bytes) {
  return nb::bytes(bytes.data(), bytes.size());
}

/// read: as open_python_file's.
std::shared_ptr<SlideReader> open_slide_file(const std::string& name, std::uint64_t size_bytes,
                                             nb::object read) {
  auto file = open_python_file(name, size_bytes, std::move(read));
  const Unlocked unlocked;
  return SlideReader::open(std::move(file));
}

std::shared_ptr<SlideReader> open_store_slide(const std::string& store, const std::string& image,
                                              const std::string& version) {
  auto cohort = cohort::Cohort::open(store, version);
  const std::size_t index = cohort->find_image(image);
  return cohort::open_store_slide(std::move(cohort), index);
}

/// The format's name, as OpenSlide has it, or "tiff" of one that only libtiff reads; nothing of
/// other files, and of files that are not there.
std::optional<std::string> slide_format(const std::string& path) {
  const auto* openslide = imaging::openslide_library();
  const char* vendor = openslide != nullptr ? openslide->detect_vendor(path.c_str()) : nullptr;
  if (vendor != nullptr) return vendor;
  try {
    if (imaging::file_kind(path) == imaging::FileKind::tiff)
      return SlideReader::open(path)->info().format;
  } catch (const Error&) {
    // Not there, or not readable: no slide.
  }
  return std::nullopt;
}

std::string openslide_version() {
  const auto* openslide = imaging::openslide_library();
  return openslide != nullptr ? openslide->get_version() : "";
}

nb::bytes text_of(const std::string& text) { return nb::bytes(text.data(), text.size()); }

std::vector<std::pair<nb::bytes, nb::bytes>> properties_of(const PrivateFacts& facts) {
  std::vector<std::pair<nb::bytes, nb::bytes>> all;
  for (const auto& [name, value] : facts.properties())
    all.emplace_back(text_of(name), text_of(value));
  return all;
}

/// (width, height, RGBA, ICC profile).
std::tuple<std::int64_t, std::int64_t, nb::bytes, nb::bytes> read_image(const PrivateFacts& facts,
                                                                        const std::string& name) {
  PrivateFacts::Image image;
  {
    const Unlocked unlocked;
    image = facts.read(name);
  }
  return {image.width, image.height, nb::bytes(image.rgba.data(), image.rgba.size()),
          bytes_of(image.icc_profile)};
}

void bind_private_facts(nb::module_& module) {
  nb::class_<PrivateFacts>(module, "PrivateFacts")
      .def_prop_ro("properties", &properties_of)
      .def_prop_ro("images", [](const PrivateFacts& facts) { return facts.images(); })
      .def("read", &read_image, nb::arg("image"));
  module.def(
      "open_private_facts",
      [](const std::string& path) {
        return std::shared_ptr<PrivateFacts>(PrivateFacts::open(path));
      },
      nb::arg("path"), Released());
}

}  // namespace

void bind_slide(nb::module_& module) {
  nb::class_<SlideReader>(module, "Slide")
      .def_prop_ro("format", [](const SlideReader& s) { return s.info().format; })
      .def_prop_ro("levels", &levels_of)
      .def_prop_ro("mpp_x", [](const SlideReader& s) { return s.info().mpp_x; })
      .def_prop_ro("mpp_y", [](const SlideReader& s) { return s.info().mpp_y; })
      .def_prop_ro("objective_power", [](const SlideReader& s) { return s.info().objective_power; })
      .def_prop_ro("bounds", &bounds_of)
      .def_prop_ro("background_colour",
                   [](const SlideReader& s) { return s.info().background_colour; })
      .def_prop_ro("icc_profile",
                   [](const SlideReader& s) { return bytes_of(s.info().icc_profile); })
      .def("read_rgba", &read_rgba, nb::arg("y"), nb::arg("x"), nb::arg("level"), nb::arg("height"),
           nb::arg("width"))
      .def("read_rgb", &read_rgb, nb::arg("y"), nb::arg("x"), nb::arg("level"), nb::arg("height"),
           nb::arg("width"))
      .def("read_level", &read_level, nb::arg("y"), nb::arg("x"), nb::arg("level"),
           nb::arg("height"), nb::arg("width"));
  module.def(
      "open_slide",
      [](const std::string& path) { return std::shared_ptr<SlideReader>(SlideReader::open(path)); },
      nb::arg("path"), Released());
  module.def("open_slide_file", &open_slide_file, nb::arg("name"), nb::arg("size_bytes"),
             nb::arg("read"));
  module.def("open_store_slide", &open_store_slide, nb::arg("store"), nb::arg("image"),
             nb::arg("version") = "", Released());
  module.def("slide_format", &slide_format, nb::arg("path"), Released());
  module.def("slide_endings", [] {
    std::vector<std::string> endings;
    for (const imaging::SlideFormat& format : imaging::slide_formats()) {
      if (format.in_folders)
        endings.insert(endings.end(), format.endings.begin(), format.endings.end());
    }
    return endings;
  });
  module.def("files_beside", &imaging::files_beside, nb::arg("path"), Released());
  module.def("new_patches", &new_patches, nb::arg("count"), nb::arg("height"), nb::arg("width"));
  module.def("read_patches", &read_patches, nb::arg("slides"), nb::arg("places"), nb::arg("out"),
             nb::arg("threads") = 0);
  module.def("openslide_version", &openslide_version, Released());
  module.def("suggest_openslide", &imaging::suggest_openslide, nb::arg("path"));
  bind_private_facts(module);
}

}  // namespace headrace::python
