#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <optional>
#include <tuple>
#include <utility>

#include "headrace/core/error.hpp"
#include "headrace/ingest/volume/channel_list.hpp"
#include "headrace/transform/volume/volume_array_batch.hpp"
#include "headrace/transform/volume/volume_spec.hpp"
#include "python/src/arrays.hpp"
#include "python/src/transform_list.hpp"
#include "python/src/unlocked.hpp"

namespace headrace::python {
namespace {

using Triple = std::array<double, 3>;
using Voxels = nb::ndarray<const std::int16_t, nb::ndim<4>, nb::device::cpu>;
using Labels = nb::ndarray<const std::uint8_t, nb::ndim<3>, nb::device::cpu>;
using Volumes = nb::ndarray<float, nb::ndim<5>, nb::c_contig, nb::device::cpu>;
using LabelVolumes = nb::ndarray<std::uint8_t, nb::ndim<4>, nb::c_contig, nb::device::cpu>;
/// Voxels, mean, standard deviation, percentiles 0.5 and 99.5.
using Intensities = std::tuple<std::uint64_t, double, double, double, double>;
/// Volume (c, z, y, x), labels (z, y, x), centre in voxels, mm a voxel, intensities of the patient
/// by channel. Voxels of a row are adjacent.
using Sample = std::tuple<Voxels, std::optional<Labels>, Triple, Triple, std::vector<Intensities>>;

std::vector<IntensityStats> stats_of(const std::vector<Intensities>& channels) {
  std::vector<IntensityStats> stats;
  for (const auto& [voxels, mean, std, low, high] : channels)
    stats.push_back({voxels, mean, std, low, high});
  return stats;
}

/// The last three axes from `first` on.
template <typename T, typename Array>
transform::VolumeView<T> view_of(const Array& array, std::size_t first, std::int64_t offset = 0) {
  transform::VolumeView<T> view{
      array.data() + offset, {}, array.stride(first + 1), array.stride(first)};
  for (std::size_t axis = 0; axis < 3; ++axis)
    view.shape_zyx[axis] = static_cast<std::int32_t>(array.shape(first + axis));
  return view;
}

transform::VolumeArray volume_array(const Sample& sample) {
  const auto& [voxels, labels, centre, spacing, patient] = sample;
  transform::VolumeArray array{{}, {}, centre, spacing, stats_of(patient)};
  for (std::size_t c = 0; c < voxels.shape(0); ++c) {
    array.channels.push_back(
        view_of<std::int16_t>(voxels, 1, voxels.stride(0) * static_cast<std::int64_t>(c)));
  }
  if (labels) array.labels = view_of<std::uint8_t>(*labels, 0);
  return array;
}

/// A graph for each channel; without names one for the only channel, in HU.
std::vector<transform::VolumeGraph> compile(const transform::VolumeTransformList& specs,
                                            const transform::VolumePatchSpec& patch,
                                            const std::vector<std::string>& names,
                                            const std::vector<IntensityStats>& foreground) {
  const ingest::ChannelList channels = ingest::parse_channels(names);
  std::vector<transform::VolumeGraph> graphs;
  for (std::size_t c = 0; c < std::max<std::size_t>(channels.size(), 1); ++c) {
    transform::ChannelPlace place;
    place.number = static_cast<std::uint32_t>(c);
    if (!channels.empty()) {
      place.name = channels.names[c];
      place.unit = channels.units[c];
    }
    if (c >= foreground.size() && transform::VolumeGraph::needs_foreground(specs, place.name)) {
      fail(ErrorCode::usage,
           "transforms: an entry needs the intensities under the labels of the training set; give "
           "foreground=headrace.estimate_intensities(volumes, masks)");
    }
    graphs.push_back(transform::VolumeGraph::compile(
        specs, patch, c < foreground.size() ? foreground[c] : IntensityStats{}, place));
  }
  return graphs;
}

/// A list of transforms for volumes, compiled for one size of patch.
class VolumeTransforms {
 public:
  VolumeTransforms(const std::string& json, const std::array<std::int32_t, 3>& size,
                   const Triple& spacing_mm, const std::vector<std::string>& channels,
                   const std::vector<Intensities>& foreground)
      : specs_(read_transforms(json, transform::parse_volume_transforms)),
        batch_(compile(specs_, {size, spacing_mm}, channels, stats_of(foreground))) {
    for (const std::string& name : ingest::parse_channels(channels).names)
      needs_patient_ |= transform::VolumeGraph::needs_patient(specs_, name);
    if (channels.empty()) needs_patient_ = transform::VolumeGraph::needs_patient(specs_);
  }

  std::string config() const { return dump_json(transform::to_json(specs_)); }
  /// What each channel draws, in order.
  std::string describe(const KeyNumbers& key, const std::vector<Intensities>& patient,
                       bool random) const {
    check_patient(!patient.empty());
    const std::vector<IntensityStats> stats = stats_of(patient);
    Json drawn = Json::array();
    for (std::size_t c = 0; c < batch_.channels().size(); ++c) {
      drawn.push_back(transform::describe(*batch_.channels()[c].draw(
          key_of(key), c < stats.size() ? stats[c] : IntensityStats{}, random)));
    }
    return dump_json(drawn);
  }

  void run(const std::vector<Sample>& samples, const KeyNumbers& key, bool random, int threads,
           const Volumes& volumes, const std::optional<LabelVolumes>& labels) const {
    std::vector<transform::VolumeArray> arrays;
    for (const Sample& sample : samples) {
      check_patient(!std::get<4>(sample).empty());
      arrays.push_back(volume_array(sample));
    }
    float* const dst = volumes.data();
    std::uint8_t* const dst_labels = labels ? labels->data() : nullptr;
    const Unlocked unlocked;
    ThreadPool pool(threads);
    batch_.run(arrays, key_of(key), random, dst, dst_labels, pool);
  }

 private:
  void check_patient(bool given) const {
    if (given || !needs_patient_) return;
    fail(ErrorCode::usage,
         "transforms: an entry needs the intensities of each patient's body; give "
         "patient=image.body of a store, or headrace.estimate_intensities(volume, mask)");
  }

  transform::VolumeTransformList specs_;
  transform::VolumeArrayBatch batch_;
  bool needs_patient_ = false;  ///< of some channel
};

}  // namespace

void bind_volume_arrays(nb::module_& module) {
  nb::class_<VolumeTransforms>(module, "VolumeTransforms")
      .def(nb::init<const std::string&, const std::array<std::int32_t, 3>&, const Triple&,
                    const std::vector<std::string>&, const std::vector<Intensities>&>(),
           nb::arg("json"), nb::arg("size"), nb::arg("spacing_mm"), nb::arg("channels"),
           nb::arg("foreground"))
      .def("config", &VolumeTransforms::config)
      .def("describe", &VolumeTransforms::describe, nb::arg("key"), nb::arg("patient"),
           nb::arg("random"))
      .def("run", &VolumeTransforms::run, nb::arg("samples"), nb::arg("key"), nb::arg("random"),
           nb::arg("threads"), nb::arg("images").noconvert(), nb::arg("labels").noconvert().none());
}

}  // namespace headrace::python
