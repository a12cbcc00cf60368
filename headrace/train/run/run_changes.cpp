#include "headrace/train/run/run_changes.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "headrace/core/error.hpp"
#include "headrace/core/sha256.hpp"

namespace headrace::train {
namespace {

void collect(const Json& before, const Json& after, const std::string& path,
             std::vector<Change>& out) {
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

bool only_judges(const std::string& key) { return key == "data.val" || key.starts_with("eval."); }

}  // namespace

std::string Change::text(const std::string& now) const {
  return fmt::format("{}: the run has {}, {} {}", key, before.dump(), now, after.dump());
}

std::vector<Change> changes_between(const Json& before, const Json& after) {
  std::vector<Change> out;
  collect(before, after, "", out);
  return out;
}

std::vector<Change> check_resumed_config(const Json& stored, const Json& given) {
  std::vector<Change> judging;
  std::vector<std::string> refused;
  for (const Change& change : changes_between(stored, given)) {
    if (loader::RunConfig::decides_nothing(change.key)) continue;
    if (only_judges(change.key)) {
      judging.push_back(change);
    } else {
      refused.push_back(change.text("the config"));
    }
  }
  if (refused.empty()) return judging;
  fail(ErrorCode::usage,
       "The config differs from that of the run to resume: {}. Put it back, or start a new run in "
       "another folder.",
       fmt::join(refused, "; "));
}

std::string judging_hash(const loader::RunConfig& config) {
  const Json json = config.to_json();
  return sha256_hex(dump_json({{"val", json.at("data").at("val")}, {"eval", json.at("eval")}}));
}

}  // namespace headrace::train
