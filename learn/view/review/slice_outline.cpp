#include "learn/view/review/slice_outline.hpp"

#include <fmt/format.h>

#include "headrace/core/error.hpp"
#include "learn/view/http/whole_number.hpp"
#include "learn/view/review/review_json.hpp"
#include "learn/view/review/ring_json.hpp"

namespace headrace::view {

Json SliceOutline::to_json() const {
  return {{"class", class_name},
          {"rings", json_of_rings(rings)},
          {"reviewer", reviewer},
          {"time", time}};
}

SliceOutline SliceOutline::from_json(const Json& json, const std::vector<std::string>& classes) {
  if (!json.is_object()) fail(ErrorCode::usage, "an outline is not a JSON object");
  SliceOutline outline;
  outline.class_name = class_at(json, classes);
  outline.rings = rings_of_json(json.value("rings", Json()));
  if (outline.rings.empty()) fail(ErrorCode::usage, "outline: has no ring");
  outline.reviewer = text_at(json, "reviewer");
  outline.time = text_at(json, "time");
  return outline;
}

bool SliceOutline::same_area(const SliceOutline& other) const {
  return class_name == other.class_name && rings == other.rings;
}

Json json_of_outlines(const std::vector<SliceOutline>& outlines) {
  Json list = Json::array();
  for (const SliceOutline& outline : outlines) list.push_back(outline.to_json());
  return list;
}

Json json_of_slices(const SliceOutlines& slices) {
  Json out = Json::object();
  for (const auto& [slice, outlines] : slices)
    if (!outlines.empty()) out[fmt::format("{}", slice)] = json_of_outlines(outlines);
  return out;
}

SliceOutlines slices_of_json(const Json& json, const std::vector<std::string>& classes) {
  SliceOutlines out;
  for (const auto& [key, list] : json.items()) {
    const auto slice = whole_number(key);
    if (!slice) fail(ErrorCode::malformed, "'{}' is not the number of a slice", key);
    out[*slice] = outlines_of_json(list, classes);
  }
  return out;
}

std::vector<SliceOutline> outlines_of_json(const Json& json,
                                           const std::vector<std::string>& classes) {
  if (!json.is_array()) fail(ErrorCode::usage, "outlines: is not a list of outlines");
  std::vector<SliceOutline> out;
  for (const Json& outline : json) out.push_back(SliceOutline::from_json(outline, classes));
  return out;
}

}  // namespace headrace::view
