#include "headrace/cohort/image_record.hpp"

#include <fmt/format.h>

#include <tuple>

#include "headrace/core/error.hpp"
#include "headrace/core/utf8.hpp"

namespace headrace::cohort::detail {
namespace {

std::optional<int> optional_int(const Json& object, const char* key, const std::string& origin) {
  const auto found = object.find(key);
  if (found == object.end() || found->is_null()) return std::nullopt;
  return require<int>(object, key, origin);
}

/// The (y, x) part of a level's scale: the last two numbers.
std::array<double, 2> level_scale(const Json& dataset, const std::string& origin) {
  for (const Json& transformation : dataset.value("coordinateTransformations", Json::array())) {
    if (transformation.value("type", "") != "scale") continue;
    const auto scale = require<std::vector<double>>(transformation, "scale", origin);
    if (scale.size() < 2 || !(scale[scale.size() - 2] > 0) || !(scale.back() > 0)) break;
    return {scale[scale.size() - 2], scale.back()};
  }
  fail(ErrorCode::malformed, "{}: a level of 'multiscales' has no valid scale", origin);
}

std::vector<ImageLevel> parse_levels(const Json& attributes, const Json& own,
                                     const std::optional<std::array<double, 2>>& mpp,
                                     const std::string& origin) {
  const Json& ome = require_object(attributes, "ome", origin);
  const Json& multiscales = require_field(ome, "multiscales", origin);
  if (!multiscales.is_array() || multiscales.empty()) {
    fail(ErrorCode::malformed, "{}: 'multiscales' holds no image", origin);
  }
  const Json& datasets = require_field(multiscales.front(), "datasets", origin);
  if (!datasets.is_array() || datasets.empty()) {
    fail(ErrorCode::malformed, "{}: 'multiscales' holds no levels", origin);
  }
  using Sizes = std::vector<std::array<std::int64_t, 2>>;
  const auto sizes = optional<Sizes>(own, "levels", origin, {});
  if (!sizes.empty() && sizes.size() != datasets.size()) {
    fail(ErrorCode::malformed, "{}: 'levels' states {} sizes, 'multiscales' {} levels", origin,
         sizes.size(), datasets.size());
  }
  const auto base = level_scale(datasets.front(), origin);
  std::vector<ImageLevel> levels;
  for (std::size_t k = 0; k < datasets.size(); ++k) {
    ImageLevel& level = levels.emplace_back();
    const auto scale = level_scale(datasets[k], origin);
    level.downsample_yx = {scale[0] / base[0], scale[1] / base[1]};
    if (mpp) {
      level.mpp_yx = {(*mpp)[0] * level.downsample_yx[0], (*mpp)[1] * level.downsample_yx[1]};
    }
    if (!sizes.empty()) std::tie(level.height, level.width) = std::tuple(sizes[k][0], sizes[k][1]);
  }
  return levels;
}

ImageColour parse_colour(const Json& own, const std::string& origin) {
  ImageColour colour;
  if (const Json stain = own.value("stain", Json()); !stain.is_null()) {
    const auto he = require<std::array<std::array<double, 2>, 3>>(stain, "he", origin);
    for (std::size_t c = 0; c < 3; ++c) {
      colour.stain_od_rgb_he[2 * c] = he[c][0];
      colour.stain_od_rgb_he[2 * c + 1] = he[c][1];
    }
    colour.max_concentration = require<std::array<double, 2>>(stain, "max_concentration", origin);
    colour.has_stain = true;
  }
  if (const Json od = own.value("od", Json()); !od.is_null()) {
    const std::string where = origin + ", 'od'";
    colour.od_pixels = require<std::uint64_t>(od, "pixels", where);
    colour.od_sum = require<std::array<std::uint64_t, 3>>(od, "sum", where);
    colour.od_product = require<std::array<std::uint64_t, 6>>(od, "product", where);
  }
  return colour;
}

}  // namespace

ImageRecord parse_image_record(const std::string& id, const Json& group,
                               const StoreVersion& version, const std::string& origin) {
  const Json& attributes = require_object(group, "attributes", origin);
  const Json& own = require_object(attributes, "headrace", origin);
  ImageRecord record;
  record.id = id;
  const VersionImage& stated = version.images.at(id);
  const Json& columns = stated.columns;
  const std::string where = fmt::format("version of the dataset, image {}", id);
  record.case_id = optional<std::string>(columns, "case", where, id);
  record.cohort = optional<std::string>(columns, "cohort", where, "");
  record.scanner = optional<std::string>(columns, "scanner", where, "");
  record.split = optional<std::string>(columns, "split", where, "");
  record.codec = optional<std::string>(own, "codec", origin, "");
  record.primary = optional_int(columns, "primary", where);
  record.secondary = optional_int(columns, "secondary", where);
  record.grade_group = optional_int(columns, "grade_group", where);
  record.negative = optional_int(columns, "negative", where) == 1;
  for (const auto& [set, label] : stated.labels) record.labels.push_back(set);
  for (const std::string& name : {record.case_id, record.cohort, record.scanner, record.split}) {
    if (const auto why = why_no_plain_text(name))
      fail(ErrorCode::malformed, "{}: '{}' {}, and names are plain text", where, name, *why);
  }
  record.source_bytes =
      optional<std::uint64_t>(own.value("source", Json::object()), "bytes", origin, 0);
  if (version.kind == "volume") {
    record.volume = parse_volume_record(own, origin);
    record.volume->phase = optional<std::string>(columns, "phase", where, "unknown");
    return record;
  }
  std::optional<std::array<double, 2>> mpp;
  if (own.contains("mpp") && !own.at("mpp").is_null()) {
    mpp = require<std::array<double, 2>>(own, "mpp", origin);
    if (!((*mpp)[0] > 0) || !((*mpp)[1] > 0)) {
      fail(ErrorCode::malformed, "{}: 'mpp' is [{}, {}]; both must be above 0", origin, (*mpp)[0],
           (*mpp)[1]);
    }
  }
  record.has_mpp = mpp.has_value();
  record.levels = parse_levels(attributes, own, mpp, origin);
  if (own.contains("scan")) {
    record.scan_origin_yx = require<std::array<std::int64_t, 2>>(
        require_object(own, "scan", origin), "origin_yx", origin);
  }
  record.colour = parse_colour(own, origin);
  return record;
}

}  // namespace headrace::cohort::detail
