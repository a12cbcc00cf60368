#include <nanobind/stl/array.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <map>
#include <optional>
#include <tuple>

#include "headrace/core/error.hpp"
#include "headrace/transform/slide/slide_array_batch.hpp"
#include "headrace/transform/slide/slide_spec.hpp"
#include "python/src/arrays.hpp"
#include "python/src/transform_list.hpp"
#include "python/src/unlocked.hpp"

namespace headrace::python {
namespace {

using Pair = std::array<double, 2>;
using Pixels = nb::ndarray<const std::uint8_t, nb::ndim<3>, nb::device::cpu>;
using Labels = nb::ndarray<const std::uint8_t, nb::ndim<2>, nb::device::cpu>;
using Images = nb::ndarray<float, nb::ndim<4>, nb::c_contig, nb::device::cpu>;
using LabelImages = nb::ndarray<std::uint8_t, nb::ndim<3>, nb::c_contig, nb::device::cpu>;
/// Image (y, x, c), labels (y, x), centre in pixels, µm a pixel, colour. Pixels of a row are
/// adjacent.
using Sample = std::tuple<Pixels, std::optional<Labels>, Pair, Pair, ImageColour>;
using References = std::map<std::string, ImageColour>;

template <typename Array>
transform::ImageView view_of(const Array& array) {
  return {array.data(), static_cast<std::int32_t>(array.shape(0)),
          static_cast<std::int32_t>(array.shape(1)), array.stride(0)};
}

transform::ImageArray image_array(const Sample& sample) {
  const auto& [image, labels, centre, mpp, colour] = sample;
  return {view_of(image), labels ? view_of(*labels) : transform::ImageView{}, centre, mpp, colour};
}

/// The target of stain_normalize. Errors: usage, for a name that was not given.
ImageColour reference_of(const References& references, const std::string& name) {
  if (const auto found = references.find(name); found != references.end()) return found->second;
  if (name == transform::kBuiltinReference) return transform::builtin_reference();
  fail(ErrorCode::usage,
       "transforms: stain_normalize.reference is '{}', which references= does not have; give its "
       "colour there, or write 'builtin'",
       name);
}

/// A list of transforms for slides, compiled for one size of patch.
class SlideTransforms {
 public:
  SlideTransforms(const std::string& json, const std::array<std::int32_t, 2>& size, double mpp,
                  const References& references)
      : specs_(read_transforms(json, transform::parse_transforms)),
        batch_(transform::Graph::compile(
            specs_, {size[0], size[1], mpp, {1}},
            [&](const std::string& name) { return reference_of(references, name); })) {}

  std::string config() const { return dump_json(transform::to_json(specs_)); }
  std::string describe(const KeyNumbers& key, const ImageColour& colour, bool random) const {
    return dump_json(transform::describe(*batch_.graph().draw(key_of(key), colour, random)));
  }

  void run(const std::vector<Sample>& samples, const KeyNumbers& key, bool random, int threads,
           const Images& images, const std::optional<LabelImages>& labels) const {
    std::vector<transform::ImageArray> arrays;
    for (const Sample& sample : samples) arrays.push_back(image_array(sample));
    float* const dst = images.data();
    std::uint8_t* const dst_labels = labels ? labels->data() : nullptr;
    const Unlocked unlocked;
    ThreadPool pool(threads);
    batch_.run(arrays, key_of(key), random, dst, dst_labels, pool);
  }

 private:
  transform::TransformList specs_;
  transform::ArrayBatch batch_;
};

}  // namespace

void bind_slide_arrays(nb::module_& module) {
  nb::class_<SlideTransforms>(module, "SlideTransforms")
      .def(nb::init<const std::string&, const std::array<std::int32_t, 2>&, double,
                    const References&>(),
           nb::arg("json"), nb::arg("size"), nb::arg("mpp"), nb::arg("references"))
      .def("config", &SlideTransforms::config)
      .def("describe", &SlideTransforms::describe, nb::arg("key"), nb::arg("colour"),
           nb::arg("random"))
      .def("run", &SlideTransforms::run, nb::arg("samples"), nb::arg("key"), nb::arg("random"),
           nb::arg("threads"), nb::arg("images").noconvert(), nb::arg("labels").noconvert().none());
}

}  // namespace headrace::python
