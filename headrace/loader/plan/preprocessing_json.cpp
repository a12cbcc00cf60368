#include <algorithm>

#include "headrace/core/error.hpp"
#include "headrace/loader/plan/preprocessing.hpp"

namespace headrace::loader {
namespace {

constexpr int kFormat = 1;

/// One object of the file: every key is read once, and none may remain.
class Fields {
 public:
  Fields(const Json& object, std::string origin) : object_(object), origin_(std::move(origin)) {
    if (!object.is_object()) {
      fail(ErrorCode::malformed, "{}: expected a JSON object, found {}", origin_,
           object.dump().substr(0, 80));
    }
  }

  const Json& at(const char* key) {
    const auto found = object_.find(key);
    if (found == object_.end()) {
      fail(ErrorCode::malformed, "{}: the key '{}' is missing", origin_, key);
    }
    taken_.push_back(key);
    return *found;
  }
  template <typename T>
  T get(const char* key) {
    const Json& value = at(key);
    try {
      return value.get<T>();
    } catch (const Json::exception&) {
      fail(ErrorCode::malformed, "{}: '{}' is {}, which is not of its kind", origin_, key,
           value.dump().substr(0, 80));
    }
  }
  std::string below(const std::string& key) const { return origin_ + ": " + key; }
  void finish() const {
    for (const auto& [key, value] : object_.items()) {
      if (std::find(taken_.begin(), taken_.end(), key) == taken_.end())
        fail(ErrorCode::malformed, "{}: the key '{}' does not belong here", origin_, key);
    }
  }

 private:
  const Json& object_;
  std::string origin_;
  std::vector<std::string> taken_;
};

Json to_json(const IntensityStats& stats) {
  if (stats.voxels == 0) return nullptr;
  return {{"voxels", stats.voxels},
          {"mean", stats.mean},
          {"std", stats.std},
          {"p00_5", stats.low},
          {"p99_5", stats.high}};
}

IntensityStats parse_intensities(const Json& json, const std::string& origin) {
  if (json.is_null()) return {};
  Fields fields(json, origin);
  IntensityStats stats{fields.get<std::uint64_t>("voxels"), fields.get<double>("mean"),
                       fields.get<double>("std"), fields.get<double>("p00_5"),
                       fields.get<double>("p99_5")};
  fields.finish();
  return stats;
}

IntensityUnit parse_unit(Fields& channel) {
  const auto name = channel.get<std::string>("unit");
  const auto unit = unit_named(name);
  if (!unit) {
    fail(ErrorCode::unsupported, "{} is '{}', this version reads HU and SUV. Train the run again",
         channel.below("unit"), name);
  }
  return *unit;
}

Json to_json(const OdStats& stats) {
  if (stats.pixels == 0) return nullptr;
  return {{"pixels", stats.pixels}, {"od_mean", stats.mean}, {"od_std", stats.std}};
}

OdStats parse_od(const Json& json, const std::string& origin) {
  if (json.is_null()) return {};
  Fields fields(json, origin);
  using Three = std::array<double, 3>;
  OdStats stats{fields.get<std::uint64_t>("pixels"), fields.get<Three>("od_mean"),
                fields.get<Three>("od_std")};
  fields.finish();
  return stats;
}

Json to_json(const std::optional<StainReference>& reference) {
  if (!reference) return nullptr;
  Json he = Json::array();
  for (std::size_t c = 0; c < 3; ++c)
    he.push_back({reference->stain_od_rgb_he[2 * c], reference->stain_od_rgb_he[2 * c + 1]});
  return {{"name", reference->name},
          {"he", std::move(he)},
          {"max_concentration", reference->max_concentration}};
}

std::optional<StainReference> parse_reference(const Json& json, const std::string& origin) {
  if (json.is_null()) return std::nullopt;
  Fields fields(json, origin);
  StainReference reference;
  reference.name = fields.get<std::string>("name");
  const auto he = fields.get<std::array<std::array<double, 2>, 3>>("he");
  for (std::size_t c = 0; c < 3; ++c) {
    reference.stain_od_rgb_he[2 * c] = he[c][0];
    reference.stain_od_rgb_he[2 * c + 1] = he[c][1];
  }
  reference.max_concentration = fields.get<std::array<double, 2>>("max_concentration");
  fields.finish();
  return reference;
}

}  // namespace

Json Preprocessing::to_json() const {
  Json by_scanner = Json::object();
  for (const auto& [name, stats] : scanners) by_scanner[name] = loader::to_json(stats);
  Json json = {{"format", kFormat},
               {"classes", classes},
               {"class_sets", headrace::to_json(class_sets, classes)},
               {"orientation", orientation.empty() ? Json(nullptr) : Json(orientation)},
               {"foreground", loader::to_json(foreground)},
               {"stain_reference", loader::to_json(stain_reference)},
               {"tissue", loader::to_json(od)},
               {"scanners", std::move(by_scanner)}};
  for (const auto& channel : channels) {
    Json one = {{"name", channel.name}, {"foreground", loader::to_json(channel.foreground)}};
    // Files of runs on CT only are the same as before other units existed.
    if (channel.unit != IntensityUnit::hu) one["unit"] = std::string(name_of(channel.unit));
    json["channels"].push_back(std::move(one));
  }
  // What most runs do not need is not there, so that their files are as before.
  if (!outside_body.empty()) json["outside_body"] = outside_body;
  if (least_region_mm2 > 0) json["least_region_mm2"] = least_region_mm2;
  if (enlarged > 0) json["enlarged"] = enlarged;
  return json;
}

Preprocessing Preprocessing::parse(const Json& json, const std::string& origin) {
  Fields fields(json, origin);
  const int format = fields.get<int>("format");
  if (format != kFormat) {
    fail(ErrorCode::unsupported, "{}: format {}, this version reads {}. Train the run again",
         origin, format, kFormat);
  }
  Preprocessing out;
  out.classes = fields.get<std::vector<std::string>>("classes");
  out.class_sets = class_sets_of(fields.at("class_sets"), out.classes, origin);
  const Json& orientation = fields.at("orientation");
  if (!orientation.is_null()) out.orientation = fields.get<std::string>("orientation");
  if (!out.orientation.empty() && out.orientation != "LPS") {
    fail(ErrorCode::unsupported, "{}: orientation '{}', this version stores volumes as LPS", origin,
         out.orientation);
  }
  out.foreground = parse_intensities(fields.at("foreground"), fields.below("foreground"));
  if (json.contains("channels")) {
    for (const Json& channel : fields.at("channels")) {
      Fields of_channel(channel, fields.below("channels"));
      ChannelPreprocessing& one = out.channels.emplace_back();
      one.name = of_channel.get<std::string>("name");
      one.foreground =
          parse_intensities(of_channel.at("foreground"), of_channel.below("foreground"));
      if (channel.contains("unit")) one.unit = parse_unit(of_channel);
      of_channel.finish();
    }
  }
  if (json.contains("outside_body")) {
    out.outside_body = fields.get<std::vector<std::string>>("outside_body");
    for (const std::string& name : out.outside_body) {
      if (std::find(out.classes.begin(), out.classes.end(), name) == out.classes.end())
        fail(ErrorCode::malformed, "{}: 'outside_body' has '{}', which is no class", origin, name);
    }
  }
  for (auto& [key, value] : {std::pair{"least_region_mm2", &out.least_region_mm2},
                             std::pair{"enlarged", &out.enlarged}}) {
    if (!json.contains(key)) continue;
    *value = fields.get<double>(key);
    if (!(*value > 0)) fail(ErrorCode::malformed, "{}: '{}' must be above 0", origin, key);
  }
  out.stain_reference =
      parse_reference(fields.at("stain_reference"), fields.below("stain_reference"));
  out.od = parse_od(fields.at("tissue"), fields.below("tissue"));
  const Json& scanners = fields.at("scanners");
  if (!scanners.is_object()) fail(ErrorCode::malformed, "{}: 'scanners' is not an object", origin);
  for (const auto& [name, stats] : scanners.items())
    out.scanners[name] = parse_od(stats, fields.below("scanners." + name));
  fields.finish();
  return out;
}

}  // namespace headrace::loader
