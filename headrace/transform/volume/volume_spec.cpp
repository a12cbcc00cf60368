#include "headrace/transform/volume/volume_spec.hpp"

#include <iterator>
#include <optional>
#include <type_traits>

#include "headrace/transform/spec_reader.hpp"

namespace headrace::transform {
namespace {

constexpr double kMostStored = 32767;

template <typename Spec>
constexpr bool kIsGeometry =
    std::is_same_v<Spec, VolumeAffineSpec> || std::is_same_v<Spec, VolumeElasticSpec>;

VolumeTransformSpec read_affine(YamlMap& map) {
  VolumeAffineSpec s;
  s.rotate_deg = range_of(map, "rotate_deg", s.rotate_deg, -360, 360);
  s.in_plane = map.get_bool("in_plane", s.in_plane);
  s.scale = range_of(map, "scale", s.scale, 0.05, 20);
  s.shear_deg = range_of(map, "shear_deg", s.shear_deg, -60, 60);
  s.translate = map.get_double("translate", s.translate, 0, 10);
  s.flip = map.get_bool("flip", s.flip);
  s.rotate_probability = map.get_double("rotate_probability", s.rotate_probability, 0, 1);
  s.scale_probability = map.get_double("scale_probability", s.scale_probability, 0, 1);
  return s;
}

VolumeTransformSpec read_elastic(YamlMap& map) {
  VolumeElasticSpec s;
  s.grid = static_cast<int>(map.get_int("grid", s.grid, 1, 32));
  s.magnitude_mm = map.get_double("magnitude_mm", s.magnitude_mm, 0, 500);
  s.probability = map.get_double("probability", s.probability, 0, 1);
  return s;
}

/// A window of values in a unit; `s` has the defaults.
template <typename Window>
VolumeTransformSpec read_window(YamlMap& map, Window s, IntensityUnit unit) {
  const double most = kMostStored / stored_per_unit(unit);
  s.channel = map.get_string("channel", s.channel);
  s.low = map.get_double("low", s.low, -most, most);
  const auto high = map.find("high");
  if (high) s.high = high->as_double(-most, most);
  if (!(s.low < s.high)) {
    const std::string problem =
        fmt::format("the window [{}, {}] {} is empty; low must be less than high", s.low, s.high,
                    name_of(unit));
    if (high) high->reject(problem);
    map.require("low").reject(problem);
  }
  return s;
}

VolumeTransformSpec read_window_hu(YamlMap& map) {
  return read_window(map, WindowHuSpec{}, IntensityUnit::hu);
}
VolumeTransformSpec read_window_suv(YamlMap& map) {
  return read_window(map, WindowSuvSpec{}, IntensityUnit::suv);
}

VolumeTransformSpec read_clip_percentiles(YamlMap& map) {
  ClipPercentilesSpec s;
  s.channel = map.get_string("channel", s.channel);
  s.of = map.get_choice("of", s.of, {"patient", "foreground"});
  return s;
}

VolumeTransformSpec read_normalize(YamlMap& map) {
  VolumeNormalizeSpec s;
  s.channel = map.get_string("channel", s.channel);
  s.method = map.get_choice("method", s.method, {"none", "zscore", "foreground", "fixed"});
  for (const char* key : {"mean", "std"}) {
    const auto value = map.find(key);
    if (value && s.method != "fixed") {
      value->reject(
          fmt::format("only method fixed takes a {}; method {} finds its own", key, s.method));
    }
  }
  s.mean = map.get_double("mean", s.mean, -kMostStored, kMostStored);
  s.std = map.get_double("std", s.std, 1e-6, kMostStored);
  return s;
}

VolumeTransformSpec read_brightness(YamlMap& map) {
  VolumeBrightnessSpec s;
  s.channel = map.get_string("channel", s.channel);
  s.factor = range_of(map, "factor", s.factor, 0, 100);
  s.probability = map.get_double("probability", s.probability, 0, 1);
  s.bg = map.get_bool("bg", s.bg);
  return s;
}

VolumeTransformSpec read_contrast(YamlMap& map) {
  VolumeContrastSpec s;
  s.channel = map.get_string("channel", s.channel);
  s.factor = range_of(map, "factor", s.factor, 0, 100);
  s.probability = map.get_double("probability", s.probability, 0, 1);
  s.preserve_range = map.get_bool("preserve_range", s.preserve_range);
  s.bg = map.get_bool("bg", s.bg);
  return s;
}

VolumeTransformSpec read_gamma(YamlMap& map) {
  VolumeGammaSpec s;
  s.channel = map.get_string("channel", s.channel);
  s.gamma = range_of(map, "gamma", s.gamma, 0.05, 20);
  s.probability = map.get_double("probability", s.probability, 0, 1);
  s.invert = map.get_bool("invert", s.invert);
  s.retain_stats = map.get_bool("retain_stats", s.retain_stats);
  s.bg = map.get_bool("bg", s.bg);
  return s;
}

VolumeTransformSpec read_noise(YamlMap& map) {
  VolumeNoiseSpec s;
  s.channel = map.get_string("channel", s.channel);
  const auto variance = map.find("variance");
  if (variance && map.find("sigma")) variance->reject("both sigma and variance; keep one of them");
  s.variance = variance.has_value();
  s.sigma = range_of(map, s.variance ? "variance" : "sigma", s.sigma, 0, 1e6);
  s.probability = map.get_double("probability", s.probability, 0, 1);
  return s;
}

VolumeTransformSpec read_blur(YamlMap& map) {
  VolumeBlurSpec s;
  s.channel = map.get_string("channel", s.channel);
  s.sigma = range_of(map, "sigma", s.sigma, 0, 8);
  s.probability = map.get_double("probability", s.probability, 0, 1);
  return s;
}

VolumeTransformSpec read_low_resolution(YamlMap& map) {
  LowResolutionSpec s;
  s.channel = map.get_string("channel", s.channel);
  s.scale = range_of(map, "scale", s.scale, 0.01, 1);
  s.probability = map.get_double("probability", s.probability, 0, 1);
  return s;
}

/// In the order of VolumeTransformSpec.
constexpr NamedReader<VolumeTransformSpec> kReaders[] = {
    {"affine", read_affine},
    {"elastic", read_elastic},
    {"window_hu", read_window_hu},
    {"window_suv", read_window_suv},
    {"clip_percentiles", read_clip_percentiles},
    {"normalize", read_normalize},
    {"brightness", read_brightness},
    {"contrast", read_contrast},
    {"gamma", read_gamma},
    {"gaussian_noise", read_noise},
    {"blur", read_blur},
    {"low_resolution", read_low_resolution},
};
static_assert(std::size(kReaders) == std::variant_size_v<VolumeTransformSpec>);

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
  if (!scaled) specs.push_back(VolumeNormalizeSpec{"foreground", 0, 1});
  for (const VolumeTransformSpec& spec : nnunet_list()) specs.push_back(spec);
}

struct ToJson {
  Json operator()(const VolumeAffineSpec& s) const {
    return {{"rotate_deg", s.rotate_deg},
            {"in_plane", s.in_plane},
            {"scale", s.scale},
            {"shear_deg", s.shear_deg},
            {"translate", s.translate},
            {"flip", s.flip},
            {"rotate_probability", s.rotate_probability},
            {"scale_probability", s.scale_probability}};
  }
  Json operator()(const VolumeElasticSpec& s) const {
    return {{"grid", s.grid}, {"magnitude_mm", s.magnitude_mm}, {"probability", s.probability}};
  }
  Json operator()(const WindowHuSpec& s) const { return {{"low", s.low}, {"high", s.high}}; }
  Json operator()(const WindowSuvSpec& s) const { return {{"low", s.low}, {"high", s.high}}; }
  Json operator()(const ClipPercentilesSpec& s) const { return {{"of", s.of}}; }
  Json operator()(const VolumeNormalizeSpec& s) const {
    if (s.method != "fixed") return {{"method", s.method}};
    return {{"method", s.method}, {"mean", s.mean}, {"std", s.std}};
  }
  Json operator()(const VolumeBrightnessSpec& s) const {
    return {{"factor", s.factor}, {"probability", s.probability}, {"bg", s.bg}};
  }
  Json operator()(const VolumeContrastSpec& s) const {
    return {{"factor", s.factor},
            {"probability", s.probability},
            {"preserve_range", s.preserve_range},
            {"bg", s.bg}};
  }
  Json operator()(const VolumeGammaSpec& s) const {
    return {{"gamma", s.gamma},
            {"probability", s.probability},
            {"invert", s.invert},
            {"retain_stats", s.retain_stats},
            {"bg", s.bg}};
  }
  Json operator()(const VolumeNoiseSpec& s) const {
    return {{s.variance ? "variance" : "sigma", s.sigma}, {"probability", s.probability}};
  }
  Json operator()(const VolumeBlurSpec& s) const {
    return {{"sigma", s.sigma}, {"probability", s.probability}};
  }
  Json operator()(const LowResolutionSpec& s) const {
    return {{"scale", s.scale}, {"probability", s.probability}};
  }
};

}  // namespace

std::vector<VolumeTransformSpec> parse_volume_transforms(const YamlValue& list) {
  std::vector<VolumeTransformSpec> specs;
  if (list.is_null()) return specs;
  for (const YamlValue& entry : list.as_list()) {
    if (entry.is_map() && entry_name(entry) == "preset") {
      add_preset(entry, specs);
    } else {
      specs.push_back(read_entry(entry, kReaders, {"preset"}));
    }
  }
  return specs;
}

Json to_json(const std::vector<VolumeTransformSpec>& specs) {
  Json list = Json::array();
  for (const VolumeTransformSpec& spec : specs) {
    Json entry = Json::object();
    entry[name_of(spec)] = std::visit(ToJson{}, spec);
    if (const std::string channel = channel_of(spec); !channel.empty())
      entry[name_of(spec)]["channel"] = channel;
    list.push_back(entry);
  }
  return list;
}

std::string channel_of(const VolumeTransformSpec& spec) {
  return std::visit(
      []<typename Spec>(const Spec& s) -> std::string {
        if constexpr (kIsGeometry<Spec>) {
          return {};
        } else {
          return s.channel;
        }
      },
      spec);
}

std::optional<IntensityUnit> unit_of(const VolumeTransformSpec& spec) {
  if (std::holds_alternative<WindowHuSpec>(spec)) return IntensityUnit::hu;
  if (std::holds_alternative<WindowSuvSpec>(spec)) return IntensityUnit::suv;
  return std::nullopt;
}

std::string name_of(const VolumeTransformSpec& spec) { return kReaders[spec.index()].name; }

}  // namespace headrace::transform
