#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <optional>

#include "headrace/core/error.hpp"
#include "headrace/core/image_colour.hpp"
#include "headrace/core/json.hpp"
#include "headrace/ingest/volume/intensity_histogram.hpp"
#include "headrace/pixels/stain/stain_estimate.hpp"
#include "python/src/arrays.hpp"
#include "python/src/transform_list.hpp"
#include "python/src/unlocked.hpp"

namespace headrace::python {
namespace {

using Bytes = nb::ndarray<const std::uint8_t, nb::c_contig, nb::device::cpu>;
using Shorts = nb::ndarray<const std::int16_t, nb::c_contig, nb::device::cpu>;

/// rgb: any number of interleaved pixels; mask: a byte for each.
std::string estimate_colour(const Bytes& rgb, const std::optional<Bytes>& mask) {
  const auto* const pixels = rgb.data();
  const auto count = static_cast<std::int64_t>(rgb.size() / 3);
  const std::uint8_t* const chosen = mask ? mask->data() : nullptr;
  pixels::StainAccumulator stains;
  std::optional<pixels::StainEstimate> estimate;
  {
    const Unlocked unlocked;
    stains.add(pixels, count, chosen);
    estimate = stains.estimate();
  }
  Json stain;
  if (estimate) {
    stain = {{"he", estimate->stain_od_rgb_he}, {"max_concentration", estimate->max_concentration}};
  }
  const pixels::OdMoments& moments = stains.moments();
  return dump_json({{"stain", stain},
                    {"pixels", moments.pixels},
                    {"od_mean", moments.mean()},
                    {"od_std", moments.std()}});
}

/// Errors: usage.
IntensityUnit unit_of(const std::string& name) {
  const auto unit = unit_named(name);
  if (!unit) fail(ErrorCode::usage, "unit: expected 'HU' or 'SUV', found '{}'", name);
  return *unit;
}

/// Statistics of stored values, in the unit.
class IntensityCounts {
 public:
  explicit IntensityCounts(const std::string& unit) : histogram_(unit_of(unit)) {}

  /// mask: a byte for each value.
  void add(const Shorts& values, const std::optional<Bytes>& mask) {
    const std::int16_t* const stored = values.data();
    const std::uint8_t* const chosen = mask ? mask->data() : nullptr;
    const std::size_t count = values.size();
    const Unlocked unlocked;
    for (std::size_t i = 0; i < count; ++i) {
      if (chosen == nullptr || chosen[i] != 0) histogram_.add(stored[i]);
    }
  }
  std::string summary() const {
    return dump_json({{"voxels", histogram_.count()},
                      {"mean", histogram_.mean()},
                      {"std", histogram_.std()},
                      {"low", histogram_.percentile(0.5)},
                      {"high", histogram_.percentile(99.5)}});
  }

 private:
  ingest::IntensityHistogram histogram_;
};

void bind_colour(nb::module_& module) {
  nb::class_<ImageColour>(module, "ImageColour")
      .def(nb::init<>())
      .def("set_stain",
           [](ImageColour& colour, const std::array<double, 6>& he,
              const std::array<double, 2>& most) {
             colour.stain_od_rgb_he = he;
             colour.max_concentration = most;
             colour.has_stain = true;
           })
      .def("set_scanner",
           [](ImageColour& colour, const std::array<double, 3>& mean,
              const std::array<double, 3>& std, const std::array<double, 3>& cohort_mean,
              const std::array<double, 3>& cohort_std) {
             colour.scanner_od_mean = mean;
             colour.scanner_od_std = std;
             colour.cohort_od_mean = cohort_mean;
             colour.cohort_od_std = cohort_std;
             colour.has_scanner = true;
           });
  module.def("estimate_colour", &estimate_colour, nb::arg("rgb"), nb::arg("mask").none());
}

}  // namespace

void bind_array_statistics(nb::module_& module) {
  bind_colour(module);
  nb::class_<IntensityCounts>(module, "IntensityCounts")
      .def(nb::init<const std::string&>(), nb::arg("unit"))
      .def("add", &IntensityCounts::add, nb::arg("values"), nb::arg("mask").none())
      .def("summary", &IntensityCounts::summary);
}

}  // namespace headrace::python
