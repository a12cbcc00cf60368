#pragma once
#include <string>
#include <vector>

#include "headrace/core/json.hpp"
#include "headrace/core/yaml.hpp"
#include "headrace/transform/slide/operations/slide_operations.hpp"
#include "headrace/transform/slide/slide_transform_list.hpp"

namespace headrace::transform {

/// Reads the list under `transforms:`. Errors: usage, with line and nearest valid name.
std::vector<TransformSpec> parse_transforms(const YamlValue& list);
/// The same list in full, with defaults: the run records and hashes it.
Json to_json(const TransformList& specs);
/// The name of an entry in the run config, e.g. "stain_normalize".
std::string name_of(const TransformSpec& spec);

}  // namespace headrace::transform
