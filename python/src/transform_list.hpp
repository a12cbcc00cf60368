#pragma once
#include <array>
#include <cstdint>
#include <string>

#include "headrace/core/yaml.hpp"
#include "headrace/transform/sample_key.hpp"
#include "python/src/bindings.hpp"

namespace headrace::python {

// What augment.cpp adds to the module, file by file.
void bind_slide_arrays(nb::module_& module);
void bind_volume_arrays(nb::module_& module);
void bind_array_statistics(nb::module_& module);

/// Seed, epoch and index of a batch's first sample.
using KeyNumbers = std::array<std::uint64_t, 3>;
inline transform::SampleKey key_of(const KeyNumbers& numbers) {
  return {numbers[0], numbers[1], numbers[2]};
}

/// Reads {"transforms": [...]} by the reader of run configs.
template <typename Parse>
auto read_transforms(const std::string& json, Parse&& parse) {
  YamlMap map = YamlMap::parse(json, "transforms");
  auto specs = parse(map.require("transforms"));
  map.finish();
  return specs;
}

}  // namespace headrace::python
