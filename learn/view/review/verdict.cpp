#include "learn/view/review/verdict.hpp"

#include <fmt/ranges.h>

#include "headrace/core/error.hpp"
#include "learn/view/review/review_json.hpp"
#include "learn/view/review/ring_json.hpp"

namespace headrace::view {
namespace {

constexpr std::size_t kLongestComment = 10000;

}  // namespace

Json Verdict::to_json() const {
  Json json{{"verdict", std::string(name_of(kind))}, {"reviewer", reviewer}, {"time", time}};
  if (kind == VerdictKind::reclass) json["class"] = class_name;
  if (!outline.empty()) json["outline"] = json_of_rings(outline);
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
  if (*kind == VerdictKind::reclass) verdict.class_name = class_at(json, classes);
  verdict.outline = rings_of_json(json.value("outline", Json::array()));
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
