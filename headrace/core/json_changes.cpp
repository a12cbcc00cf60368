#include "headrace/core/json_changes.hpp"

#include <fmt/format.h>

namespace headrace {
namespace {

void collect(const Json& before, const Json& after, const std::string& path,
             std::vector<JsonChange>& out) {
  if (before == after) return;
  if (!before.is_object() || !after.is_object()) {
    out.push_back({path, before, after});
    return;
  }
  const auto child = [&](const std::string& key) { return path.empty() ? key : path + "." + key; };
  for (const auto& [key, value] : before.items())
    collect(value, after.value(key, Json()), child(key), out);
  for (const auto& [key, value] : after.items()) {
    if (!before.contains(key)) collect(Json(), value, child(key), out);
  }
}

}  // namespace

std::string JsonChange::text(const std::string& now) const {
  return fmt::format("{}: the run has {}, {} {}", key, before.dump(), now, after.dump());
}

std::vector<JsonChange> changes_between(const Json& before, const Json& after) {
  std::vector<JsonChange> out;
  collect(before, after, "", out);
  return out;
}

}  // namespace headrace
