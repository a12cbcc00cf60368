#pragma once
#include <optional>
#include <string>
#include <vector>

#include "headrace/core/intensity_unit.hpp"
#include "headrace/core/json.hpp"
#include "headrace/core/yaml.hpp"
#include "headrace/transform/volume/operations/volume_operations.hpp"
#include "headrace/transform/volume/volume_transform_list.hpp"

namespace headrace::transform {

/// The channel that an entry is for; empty: every channel, as for all geometry.
std::string channel_of(const VolumeTransformSpec& spec);
/// What an entry asks of the values.
ValueUse value_use(const VolumeTransformSpec& spec);
/// The unit of the channels that an entry is for; nothing: of any.
std::optional<IntensityUnit> unit_of(const VolumeTransformSpec& spec);

/// Reads the list under `transforms:`; the entry `preset: nnunet` becomes nnU-Net's default list.
/// Errors: usage, with line and nearest valid name.
std::vector<VolumeTransformSpec> parse_volume_transforms(const YamlValue& list);
/// The same list in full, with presets expanded and defaults: the run records and hashes it.
Json to_json(const VolumeTransformList& specs);
std::string name_of(const VolumeTransformSpec& spec);

}  // namespace headrace::transform
