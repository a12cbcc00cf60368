#include "learn/predict/volume/place_in_words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace headrace::predict {
namespace {

Third third_at(double z, const BodyProfile::Slices& of) {
  const double part =
      (z + 0.5 - static_cast<double>(of.first)) / static_cast<double>(of.last + 1 - of.first);
  if (part < 1.0 / 3) return Third::lower;
  return part < 2.0 / 3 ? Third::middle : Third::upper;
}

/// Rounded to one decimal, never "-0.0".
std::string one_decimal(double mm) {
  const double rounded = std::round(mm * 10) / 10;
  return fmt::format("{:.1f}", rounded == 0 ? 0.0 : rounded);
}

std::string side_text(const PlaceInBody& place) {
  const char* middle = place.middle_of_body ? "the midline" : "the image's centre";
  if (std::abs(place.left_mm) <= kNearMiddleMm) {
    return place.middle_of_body ? "near the midline" : "near the image's centre from left to right";
  }
  return fmt::format("{:.0f} mm {} of {}", std::abs(place.left_mm),
                     place.left_mm > 0 ? "left" : "right", middle);
}

std::string depth_text(const PlaceInBody& place) {
  const char* centre = place.middle_of_body ? "the body's centre" : "the image's centre";
  if (std::abs(place.behind_mm) <= kNearMiddleMm)
    return fmt::format("near {} from front to back", centre);
  const bool behind = place.behind_mm > 0;
  return fmt::format("{}, {:.0f} mm {} {}", behind ? "posterior" : "anterior",
                     std::abs(place.behind_mm), behind ? "behind" : "in front of", centre);
}

}  // namespace

std::string PlaceInBody::text() const {
  return fmt::format("{} third of the {}, slice {} of {} from below, z = {} mm; {}; {}",
                     name_of(third), third_of_body ? "scanned body" : "scan", slice + 1, slices,
                     one_decimal(z_mm), side_text(*this), depth_text(*this));
}

Json PlaceInBody::to_json() const {
  return {{"text", text()},
          {"third", name_of(third)},
          {"third_of", third_of_body ? "body" : "scan"},
          {"slice_index_z", slice},
          {"slices", slices},
          {"z_mm", z_mm},
          {"left_of_middle_mm", left_mm},
          {"behind_middle_mm", behind_mm},
          {"middle_of", middle_of_body ? "body" : "image"}};
}

PlaceInBody place_in_body(const imaging::Vec3& index_xyz, const imaging::VolumeGrid& grid,
                          const BodyProfile& body) {
  const auto [x, y, z] = index_xyz;
  const auto [depth, height, width] = grid.shape_zyx;
  PlaceInBody out;
  out.slices = depth;
  out.slice = std::clamp<std::int64_t>(std::llround(z), 0, depth - 1);
  const auto with_body = body.slices();
  out.third_of_body = with_body.has_value();
  out.third = third_at(z, with_body.value_or(BodyProfile::Slices{0, depth - 1}));
  const auto centre_yx = body.centre_yx(out.slice);
  out.middle_of_body = centre_yx.has_value();
  // The middle is taken in the point's own plane, so that on a tilted grid the way to it does not
  // count the tilt.
  const auto middle_yx = centre_yx.value_or(
      std::array{static_cast<double>(height - 1) / 2, static_cast<double>(width - 1) / 2});
  const imaging::Vec3 at = grid.to_lps_mm(x, y, z);
  const imaging::Vec3 middle = grid.to_lps_mm(middle_yx[1], middle_yx[0], z);
  out.z_mm = at[2];
  out.left_mm = at[0] - middle[0];
  out.behind_mm = at[1] - middle[1];
  return out;
}

}  // namespace headrace::predict
