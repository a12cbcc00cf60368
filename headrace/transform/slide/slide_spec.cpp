#include "headrace/transform/slide/slide_spec.hpp"

#include "headrace/transform/spec_reader.hpp"

namespace headrace::transform {
namespace {

std::array<double, 3> rgb_of(YamlMap& map, const std::string& key, std::array<double, 3> fallback,
                             double least, double most) {
  const auto value = map.find(key);
  if (!value) return fallback;
  const auto channels = value->as_list(3);
  return {channels[0].as_double(least, most), channels[1].as_double(least, most),
          channels[2].as_double(least, most)};
}

TransformSpec read_affine(YamlMap& map) {
  AffineSpec spec;
  spec.rotate_deg = range_of(map, "rotate_deg", spec.rotate_deg, -360, 360);
  spec.scale = range_of(map, "scale", spec.scale, 0.05, 20);
  spec.shear_deg = range_of(map, "shear_deg", spec.shear_deg, -60, 60);
  spec.translate = map.get_double("translate", spec.translate, 0, 10);
  spec.flip = map.get_bool("flip", spec.flip);
  return spec;
}

TransformSpec read_elastic(YamlMap& map) {
  ElasticSpec spec;
  spec.grid = static_cast<int>(map.get_int("grid", spec.grid, 1, 64));
  spec.magnitude_um = map.get_double("magnitude_um", spec.magnitude_um, 0, 10000);
  spec.probability = map.get_double("probability", spec.probability, 0, 1);
  return spec;
}

TransformSpec read_stain_normalize(YamlMap& map) {
  StainNormalizeSpec spec;
  spec.method = map.get_choice("method", spec.method, {"macenko"});
  spec.reference = map.get_string("reference", spec.reference);
  return spec;
}

TransformSpec read_scanner_color(YamlMap&) { return ScannerColorSpec{}; }

TransformSpec read_hed_jitter(YamlMap& map) {
  HedJitterSpec spec;
  spec.sigma = map.get_double("sigma", spec.sigma, 0, 1);
  return spec;
}

TransformSpec read_color_jitter(YamlMap& map) {
  ColorJitterSpec spec;
  spec.brightness = map.get_double("brightness", spec.brightness, 0, 1);
  spec.contrast = map.get_double("contrast", spec.contrast, 0, 1);
  spec.saturation = map.get_double("saturation", spec.saturation, 0, 1);
  spec.hue = map.get_double("hue", spec.hue, 0, 0.5);
  return spec;
}

TransformSpec read_gaussian_noise(YamlMap& map) {
  GaussianNoiseSpec spec;
  spec.sigma = range_of(map, "sigma", spec.sigma, 0, 1);
  spec.probability = map.get_double("probability", spec.probability, 0, 1);
  return spec;
}

TransformSpec read_blur(YamlMap& map) {
  BlurSpec spec;
  spec.sigma = range_of(map, "sigma", spec.sigma, 0, 20);
  spec.probability = map.get_double("probability", spec.probability, 0, 1);
  return spec;
}

TransformSpec read_normalize(YamlMap& map) {
  NormalizeSpec spec;
  spec.mean = rgb_of(map, "mean", spec.mean, -10, 10);
  spec.std = rgb_of(map, "std", spec.std, 1e-6, 1000);
  return spec;
}

constexpr NamedReader<TransformSpec> kReaders[] = {
    {"affine", read_affine},
    {"elastic", read_elastic},
    {"stain_normalize", read_stain_normalize},
    {"scanner_color", read_scanner_color},
    {"hed_jitter", read_hed_jitter},
    {"color_jitter", read_color_jitter},
    {"gaussian_noise", read_gaussian_noise},
    {"blur", read_blur},
    {"normalize", read_normalize},
};

struct ToJson {
  Json operator()(const AffineSpec& s) const {
    return {{"affine",
             {{"rotate_deg", s.rotate_deg},
              {"scale", s.scale},
              {"shear_deg", s.shear_deg},
              {"translate", s.translate},
              {"flip", s.flip}}}};
  }
  Json operator()(const ElasticSpec& s) const {
    return {{"elastic",
             {{"grid", s.grid}, {"magnitude_um", s.magnitude_um}, {"probability", s.probability}}}};
  }
  Json operator()(const StainNormalizeSpec& s) const {
    return {{"stain_normalize", {{"method", s.method}, {"reference", s.reference}}}};
  }
  Json operator()(const ScannerColorSpec&) const { return {{"scanner_color", Json::object()}}; }
  Json operator()(const HedJitterSpec& s) const { return {{"hed_jitter", {{"sigma", s.sigma}}}}; }
  Json operator()(const ColorJitterSpec& s) const {
    return {{"color_jitter",
             {{"brightness", s.brightness},
              {"contrast", s.contrast},
              {"saturation", s.saturation},
              {"hue", s.hue}}}};
  }
  Json operator()(const GaussianNoiseSpec& s) const {
    return {{"gaussian_noise", {{"sigma", s.sigma}, {"probability", s.probability}}}};
  }
  Json operator()(const BlurSpec& s) const {
    return {{"blur", {{"sigma", s.sigma}, {"probability", s.probability}}}};
  }
  Json operator()(const NormalizeSpec& s) const {
    return {{"normalize", {{"mean", s.mean}, {"std", s.std}}}};
  }
};

}  // namespace

std::vector<TransformSpec> parse_transforms(const YamlValue& list) {
  std::vector<TransformSpec> specs;
  if (list.is_null()) return specs;
  for (const YamlValue& entry : list.as_list()) specs.push_back(read_entry(entry, kReaders));
  return specs;
}

Json to_json(const std::vector<TransformSpec>& specs) {
  Json list = Json::array();
  for (const TransformSpec& spec : specs) list.push_back(std::visit(ToJson{}, spec));
  return list;
}

std::string name_of(const TransformSpec& spec) { return kReaders[spec.index()].name; }

}  // namespace headrace::transform
