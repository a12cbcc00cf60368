#include "headrace/view/review/verdict.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "headrace/core/error.hpp"

namespace headrace::view {
namespace {

constexpr double kMostCoordinate = 1e9;
constexpr std::size_t kLongestComment = 10000;

pixels::Ring ring_of(const Json& json) {
  pixels::Ring ring;
  if (!json.is_array()) fail(ErrorCode::usage, "outline: a ring is not a list of positions");
  for (const Json& position : json) {
    if (!position.is_array() || position.size() != 2 || !position[0].is_number() ||
        !position[1].is_number()) {
      fail(ErrorCode::usage, "outline: position {} of a ring is not [y, x]", ring.size());
    }
    const double y = position[0].get<double>(), x = position[1].get<double>();
    if (!(std::abs(y) <= kMostCoordinate && std::abs(x) <= kMostCoordinate))
      fail(ErrorCode::usage, "outline: [{}, {}] is not a place on a slide", y, x);
    ring.push_back({x, y});
  }
  if (ring.size() < 3)
    fail(ErrorCode::usage, "outline: a ring has {} positions, 3 are needed", ring.size());
  return ring;
}

Json json_of(const std::vector<pixels::Ring>& outline) {
  Json rings = Json::array();
  for (const pixels::Ring& ring : outline) {
    Json positions = Json::array();
    for (const auto& [x, y] : ring) positions.push_back({y, x});
    rings.push_back(std::move(positions));
  }
  return rings;
}

std::string text_at(const Json& json, const char* key) {
  const Json value = json.value(key, Json());
  if (value.is_null()) return "";
  if (!value.is_string()) fail(ErrorCode::usage, "{}: is not text", key);
  return value.get<std::string>();
}

}  // namespace

Json Verdict::to_json() const {
  Json json{{"verdict", std::string(name_of(kind))}, {"reviewer", reviewer}, {"time", time}};
  if (kind == VerdictKind::reclass) json["class"] = class_name;
  if (!outline.empty()) json["outline"] = json_of(outline);
  if (!comment.empty()) json["comment"] = comment;
  return json;
}

Verdict Verdict::from_json(const Json& json, const std::vector<std::string>& classes) {
  if (!json.is_object()) fail(ErrorCode::usage, "a verdict is not a JSON object");
  Verdict verdict;
  const std::string said = text_at(json, "verdict");
  const auto kind = value_named<VerdictKind>(said);
  if (!kind) {
    fail(ErrorCode::usage, "verdict '{}': is not one of {}", said,
         fmt::join(names_of<VerdictKind>(), ", "));
  }
  verdict.kind = *kind;
  if (*kind == VerdictKind::reclass) {
    verdict.class_name = text_at(json, "class");
    if (std::find(classes.begin(), classes.end(), verdict.class_name) == classes.end()) {
      fail(ErrorCode::usage, "class '{}': the run's classes are {}", verdict.class_name,
           fmt::join(classes, ", "));
    }
  }
  for (const Json& ring : json.value("outline", Json::array()))
    verdict.outline.push_back(ring_of(ring));
  verdict.comment = text_at(json, "comment");
  if (verdict.comment.size() > kLongestComment) {
    fail(ErrorCode::usage, "comment: has {} bytes, {} are the most", verdict.comment.size(),
         kLongestComment);
  }
  verdict.reviewer = text_at(json, "reviewer");
  verdict.time = text_at(json, "time");
  return verdict;
}

}  // namespace headrace::view
