#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "headrace/cohort/cohort.hpp"
#include "headrace/core/error.hpp"
#include "headrace/pixels/stain/stain_estimate.hpp"
#include "python/src/arrays.hpp"
#include "python/src/bindings.hpp"
#include "python/src/image_codec.hpp"
#include "python/src/stored_array.hpp"
#include "python/src/unlocked.hpp"

namespace headrace::python {
namespace {

using cohort::ImageRecord;
using Released = nb::call_guard<Unlocked>;

/// An open store.
struct Store {
  std::shared_ptr<const cohort::Cohort> cohort;
};

/// A level as (shape, level-0 pixels a pixel, spacing), each in the order of the given array: slides
/// (y, x) in micrometres, 0 where it is not known; volumes (z, y, x) in millimetres.
using LevelFacts = std::tuple<std::vector<std::int64_t>, std::vector<double>, std::vector<double>>;

template <typename T, std::size_t N>
std::vector<T> list_of(const std::array<T, N>& values) {
  return {values.begin(), values.end()};
}

std::vector<LevelFacts> levels_of(const ImageRecord& image) {
  std::vector<LevelFacts> levels;
  for (const auto& level : image.levels)
    levels.emplace_back(std::vector{level.height, level.width}, list_of(level.downsample_yx),
                        list_of(level.mpp_yx));
  if (!image.volume) return levels;
  for (const auto& level : image.volume->levels)
    levels.emplace_back(list_of(level.shape_zyx), list_of(level.downsample_zyx),
                        list_of(level.spacing_mm_zyx));
  return levels;
}

/// voxels, mean, standard deviation, percentiles 0.5 and 99.5.
using Intensities = std::tuple<std::uint64_t, double, double, double, double>;

Intensities intensities(const IntensityStats& stats) {
  return {stats.voxels, stats.mean, stats.std, stats.low, stats.high};
}

/// Statistics of each channel; nothing of one that the volume lacks. One of a store without named
/// channels.
std::vector<std::optional<Intensities>> body_of(const ImageRecord& image) {
  std::vector<std::optional<Intensities>> all;
  if (!image.volume) return all;
  if (image.volume->channels.empty()) all.emplace_back(intensities(image.volume->body));
  for (const auto& channel : image.volume->channels)
    all.push_back(channel.stored ? std::optional(intensities(channel.body)) : std::nullopt);
  return all;
}

/// (stain vectors row by row, greatest concentrations) or nothing.
std::optional<std::pair<std::array<double, 6>, std::array<double, 2>>> stain_of(
    const ImageRecord& image) {
  if (!image.colour.has_stain) return std::nullopt;
  return std::pair{image.colour.stain_od_rgb_he, image.colour.max_concentration};
}

/// pixels, mean and standard deviation of optical density.
std::tuple<std::uint64_t, std::array<double, 3>, std::array<double, 3>> density_of(
    const ImageRecord& image) {
  const pixels::OdMoments moments{image.colour.od_pixels, image.colour.od_sum,
                                  image.colour.od_product};
  return {moments.pixels, moments.mean(), moments.std()};
}

template <typename T>
using Three = std::tuple<T, T, T>;

/// class, voxels, mm³, centre (LPS), box's first voxel, box's size.
using LesionRow =
    std::tuple<int, std::uint64_t, double, Three<double>, Three<std::int64_t>, Three<std::int64_t>>;

std::vector<LesionRow> lesions_of(const Store& store, std::size_t image,
                                  const std::string& labels) {
  std::vector<LesionRow> rows;
  for (const auto& lesion : store.cohort->lesions(image, labels))
    rows.emplace_back(lesion.class_value, lesion.voxels, lesion.volume_mm3,
                      std::tuple_cat(lesion.centre_lps_mm), std::tuple_cat(lesion.box_zyx),
                      std::tuple_cat(lesion.size_zyx));
  return rows;
}

template <typename T>
using Column = nb::ndarray<nb::numpy, T, nb::ndim<1>>;

template <typename T>
Column<T> column_of(const std::vector<T>& values) {
  return Column<T>(
      make_array<T>({values.size()}, [&](T* to) { std::copy(values.begin(), values.end(), to); }));
}

/// stored values, how often in the body, how often under a label.
std::tuple<Column<std::int32_t>, Column<std::uint64_t>, Column<std::uint64_t>> histogram_of(
    const Store& store, std::size_t image, const std::string& labels, std::size_t channel) {
  cohort::VolumeHistogram histogram;
  {
    const Unlocked unlocked;
    histogram = store.cohort->histogram(image, labels, channel);
  }
  return {column_of(histogram.stored), column_of(histogram.body), column_of(histogram.foreground)};
}

void bind_record(nb::module_& module) {
  nb::class_<ImageRecord>(module, "ImageRecord")
      .def_ro("id", &ImageRecord::id)
      .def_ro("case", &ImageRecord::case_id)
      .def_ro("cohort", &ImageRecord::cohort)
      .def_ro("scanner", &ImageRecord::scanner)
      .def_ro("split", &ImageRecord::split)
      .def_ro("codec", &ImageRecord::codec)
      .def_ro("primary", &ImageRecord::primary)
      .def_ro("secondary", &ImageRecord::secondary)
      .def_ro("grade_group", &ImageRecord::grade_group)
      .def_ro("negative", &ImageRecord::negative)
      .def_ro("labels", &ImageRecord::labels)
      .def_ro("source_bytes", &ImageRecord::source_bytes)
      .def_prop_ro("levels", &levels_of)
      .def_prop_ro("stain", &stain_of)
      .def_prop_ro("density", &density_of)
      .def_prop_ro("is_volume", [](const ImageRecord& r) { return r.volume.has_value(); })
      .def_prop_ro("phase",
                   [](const ImageRecord& r) { return r.volume ? r.volume->phase : std::string(); })
      .def_prop_ro("affine",
                   [](const ImageRecord& r) {
                     return r.volume ? std::optional(r.volume->affine_lps) : std::nullopt;
                   })
      .def_prop_ro("body", &body_of);
}

/// The unit of a channel of this number: its name, stored steps in 1 of it, from black to white.
std::tuple<std::string, int, std::array<double, 2>> unit_of(const Store& store,
                                                            std::size_t channel) {
  const IntensityUnit unit = store.cohort->unit_of(channel);
  return {std::string(name_of(unit)), stored_per_unit(unit), usual_window(unit)};
}

void bind_facts(nb::class_<Store>& store) {
  store.def_prop_ro("path", [](const Store& s) { return s.cohort->path(); })
      .def_prop_ro("kind", [](const Store& s) { return s.cohort->kind(); })
      .def_prop_ro("classes", [](const Store& s) { return s.cohort->classes(); })
      .def_prop_ro("class_sets",
                   [](const Store& s) {
                     std::vector<std::pair<std::string, std::vector<int>>> sets;
                     for (const ClassSet& set : s.cohort->class_sets())
                       sets.emplace_back(set.name,
                                         std::vector<int>(set.classes.begin(), set.classes.end()));
                     return sets;
                   })
      .def_prop_ro("channels", [](const Store& s) { return s.cohort->channels(); })
      .def_prop_ro("dataset_hash", [](const Store& s) { return s.cohort->dataset_hash(); })
      .def("unit", &unit_of, nb::arg("channel"))
      .def("__len__", [](const Store& s) { return s.cohort->images().size(); })
      .def("find", [](const Store& s, const std::string& id) { return s.cohort->find_image(id); })
      .def(
          "record",
          [](const Store& s, std::size_t image) -> const ImageRecord& {
            return s.cohort->images().at(image);
          },
          nb::rv_policy::reference_internal);
}

void bind_arrays(nb::class_<Store>& store) {
  store
      .def(
          "level",
          [](const Store& s, std::size_t image, std::size_t level, std::size_t channel) {
            const bool is_slide = !s.cohort->images().at(image).volume;
            return StoredArray{s.cohort->image_array(image, level, channel), is_slide};
          },
          nb::arg("image"), nb::arg("level"), nb::arg("channel"), Released())
      .def(
          "labels",
          [](const Store& s, std::size_t image, const std::string& name, std::size_t level) {
            return StoredArray{s.cohort->label_array(image, name, level), false};
          },
          nb::arg("image"), nb::arg("name"), nb::arg("level"), Released())
      .def(
          "tissue_mask",
          [](const Store& s, std::size_t image) {
            double downsample = 0;
            auto array = s.cohort->tissue_mask(image, downsample);
            return std::pair{StoredArray{std::move(array), false}, downsample};
          },
          nb::arg("image"), Released())
      .def(
          "body_mask",
          [](const Store& s, std::size_t image) {
            return StoredArray{s.cohort->body_mask(image), false};
          },
          nb::arg("image"), Released())
      .def("lesions", &lesions_of, nb::arg("image"), nb::arg("labels"), Released())
      .def("histogram", &histogram_of, nb::arg("image"), nb::arg("labels"), nb::arg("channel"));
}

}  // namespace

void bind_store(nb::module_& module) {
  bind_stored_array(module);
  bind_image_codec(module);
  bind_record(module);
  nb::class_<Store> store(module, "Store");
  bind_facts(store);
  bind_arrays(store);
  module.def(
      "open_store",
      [](const std::string& path, const std::string& version) {
        return Store{cohort::Cohort::open(path, version)};
      },
      nb::arg("path"), nb::arg("version"), Released());
}

}  // namespace headrace::python
