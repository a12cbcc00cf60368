#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "headrace/core/json.hpp"
#include "headrace/transform/slide/slide_spec.hpp"
#include "headrace/transform/spec_reader.hpp"
#include "headrace/transform/volume/volume_spec.hpp"
#include "python/src/lent_arrays.hpp"
#include "python/src/transform_list.hpp"

namespace headrace::python {
namespace {

/// The operations of a registry with their keys, as config lists them.
template <typename Registry>
Json operations_json() {
  Json list = Json::array();
  for (const transform::OperationFacts& operation : transform::OperationsOf<Registry>::facts()) {
    Json options = Json::array();
    for (const KeyFacts& option : operation.options) {
      options.push_back({{"key", option.key},
                         {"default", option.default_text},
                         {"accepts", option.accepts},
                         {"text", option.text}});
    }
    list.push_back({{"name", operation.name}, {"options", options}});
  }
  return list;
}

std::string transform_operations() {
  return dump_json({{"slides", operations_json<transform::TransformSpec>()},
                    {"volumes", operations_json<transform::VolumeTransformSpec>()}});
}

/// A list of transforms in full, with defaults.
std::string transform_config(const std::string& json, bool volumes) {
  return dump_json(
      volumes ? transform::to_json(read_transforms(json, transform::parse_volume_transforms))
              : transform::to_json(read_transforms(json, transform::parse_transforms)));
}

/// Memory for a result; its values are undefined.
template <typename T>
nb::ndarray<nb::numpy, T> new_array(const std::vector<std::size_t>& shape) {
  return lent_array<T>(shape, [](T*) {});
}

}  // namespace

void bind_augment(nb::module_& module) {
  module.def("transform_operations", &transform_operations,
             "All transforms with their keys, as JSON.");
  module.def("transform_config", &transform_config, nb::arg("json"), nb::arg("volumes"),
             "A list of transforms in full, as JSON.");
  module.def("lent_float32", &new_array<float>, nb::arg("shape"));
  module.def("lent_uint8", &new_array<std::uint8_t>, nb::arg("shape"));
  bind_array_statistics(module);
  bind_slide_arrays(module);
  bind_volume_arrays(module);
}

}  // namespace headrace::python
