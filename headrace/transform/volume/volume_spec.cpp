#include "headrace/transform/volume/volume_spec.hpp"

#include "headrace/transform/spec_reader.hpp"

namespace headrace::transform {
namespace {

/// nnU-Net's default augmentation of 3-D patches of one channel, in its order.
///
/// source  nnunetv2/training/nnUNetTrainer/nnUNetTrainer.py, get_training_transforms, of 2026-07.
/// Its
///         mirroring comes last; here it belongs to the one geometry. What it does with probability
///         p to a sample and then 1/2 to each channel has p / 2 here. Its `noise_variance` is the
///         standard deviation of the noise (batchgeneratorsv2, intensity/gaussian_noise.py).
std::vector<VolumeTransformSpec> nnunet_list() {
  VolumeAffineSpec affine;
  affine.rotate_deg = {-30, 30};
  affine.rotate_probability = 0.2;
  affine.scale = {0.7, 1.4};
  affine.scale_probability = 0.2;
  affine.flip = true;
  return {affine,
          VolumeNoiseSpec{{0, 0.1}, 0.1, false},
          VolumeBlurSpec{{0.5, 1.0}, 0.1},
          VolumeBrightnessSpec{{0.75, 1.25}, 0.15, true},
          VolumeContrastSpec{{0.75, 1.25}, 0.15, true, true},
          LowResolutionSpec{{0.5, 1}, 0.125},
          VolumeGammaSpec{{0.7, 1.5}, 0.1, true, true, true},
          VolumeGammaSpec{{0.7, 1.5}, 0.3, false, true, true}};
}

bool scales_values(const VolumeTransformSpec& spec) {
  return unit_of(spec).has_value() || std::holds_alternative<VolumeNormalizeSpec>(spec);
}

/// The augmentation is for normalised values: a list without normalisation gets nnU-Net's.
void add_preset(const YamlValue& entry, std::vector<VolumeTransformSpec>& specs) {
  YamlMap outer(entry);
  outer.require("preset").as_choice({"nnunet"});
  bool scaled = false;
  for (const VolumeTransformSpec& spec : specs) scaled = scaled || scales_values(spec);
  if (!scaled) specs.push_back(VolumeNormalizeSpec{NormalizeMethod::foreground});
  for (const VolumeTransformSpec& spec : nnunet_list()) specs.push_back(spec);
}

}  // namespace

std::vector<VolumeTransformSpec> parse_volume_transforms(const YamlValue& list) {
  std::vector<VolumeTransformSpec> specs;
  if (list.is_null()) return specs;
  for (const YamlValue& entry : list.as_list()) {
    if (entry.is_map() && entry_name(entry) == "preset") {
      add_preset(entry, specs);
    } else {
      specs.push_back(read_entry<VolumeTransformSpec>(entry, {"preset"}));
    }
  }
  return specs;
}

Json to_json(const VolumeTransformList& specs) {
  Json list = Json::array();
  for (const VolumeTransformSpec& spec : specs) {
    Json entry = Json::object();
    entry[name_of(spec)] = options_json(spec);
    list.push_back(entry);
  }
  return list;
}

std::string channel_of(const VolumeTransformSpec& spec) {
  return std::visit(
      [](const auto& s) -> std::string {
        if constexpr (requires { s.channel; }) {
          return s.channel;
        } else {
          return {};
        }
      },
      spec);
}

ValueUse value_use(const VolumeTransformSpec& spec) {
  return std::visit([](const auto& s) { return s.value_use(); }, spec);
}

std::optional<IntensityUnit> unit_of(const VolumeTransformSpec& spec) {
  return value_use(spec).only;
}

std::string name_of(const VolumeTransformSpec& spec) { return operation_name(spec); }

}  // namespace headrace::transform
