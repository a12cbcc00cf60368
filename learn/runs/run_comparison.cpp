#include "learn/runs/run_comparison.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "headrace/core/foreign_error.hpp"
#include "headrace/core/json_changes.hpp"
#include "headrace/core/task_name.hpp"
#include "learn/runs/evaluation_comparison.hpp"

namespace headrace::runs {
namespace {

constexpr const char* kRun = "run.json";
constexpr const char* kEvaluation = "eval.json";

Json json_of(const std::vector<JsonChange>& changes) {
  Json out = Json::array();
  for (const JsonChange& change : changes)
    out.push_back({{"key", change.key}, {"before", change.before}, {"after", change.after}});
  return out;
}

/// The weights that a run began with: {file: its name and that of its folder, sha256: of the file,
/// weights_sha256: their identity, null in a run of an earlier version}; null: none.
Json init_of(const Json& init) {
  if (!init.is_object()) return init;
  const std::filesystem::path file = init.value("file", "");
  return {{"file", (file.parent_path().filename() / file.filename()).string()},
          {"sha256", init.value("sha256", Json())},
          {"weights_sha256", init.value("weights_sha256", Json())}};
}

/// Equal weights are the same wherever, and in whatever file, they lay.
Json init_part(const Json& before, const Json& after) {
  const Json one = init_of(before), other = init_of(after);
  const auto identified = [](const Json& init) {
    return !init.is_object() || !init.at("weights_sha256").is_null();
  };
  const char* key = identified(one) && identified(other) ? "weights_sha256" : "sha256";
  const auto hash = [&](const Json& init) { return init.is_object() ? init.at(key) : Json(); };
  if (hash(one) == hash(other)) return {{"same", true}, {"value", one}};
  return {{"same", false}, {"changes", json_of({{"init", one, other}})}};
}

/// A part of run.json in both: the value where it is the same, else the changes. Whether it is, is
/// not known (null) where a run of an earlier version does not record it.
Json part(const Json& before, const Json& after, const std::string& key) {
  if (!before.contains(key) || !after.contains(key)) {
    Json out = {{"same", nullptr}, {"recorded_by", Json::array()}};
    if (before.contains(key)) out["recorded_by"].push_back("before");
    if (after.contains(key)) out["recorded_by"].push_back("after");
    return out;
  }
  const Json &one = before.at(key), &other = after.at(key);
  if (key == "init") return init_part(one, other);
  if (one == other) return {{"same", true}, {"value", one}};
  return {{"same", false}, {"changes", json_of(changes_between({{key, one}}, {{key, other}}))}};
}

Json config_changes(const Json& before, const Json& after,
                    const std::function<bool(const std::string& key)>& decides_nothing) {
  std::vector<JsonChange> decide, nothing;
  for (JsonChange& change : changes_between(before, after))
    (decides_nothing(change.key) ? nothing : decide).push_back(std::move(change));
  return {{"decides", json_of(decide)}, {"decides_nothing", json_of(nothing)}};
}

Json facts_of(const RunFolder& folder) {
  const auto path = (std::filesystem::absolute(folder.path()) / ".").lexically_normal();
  Json out = {{"run", path.parent_path().filename().string()}};
  const Json evaluation = folder.has(kEvaluation) ? folder.read_json(kEvaluation) : Json();
  const Json summary = folder.has("summary.json") ? folder.read_json("summary.json") : Json();
  for (const Json& from : {evaluation, summary}) {
    if (from.contains("weights_sha256") && !out.contains("weights_sha256"))
      out["weights_sha256"] = from.at("weights_sha256");
  }
  for (const char* key : {"dataset_hash", "split", "store"}) {
    if (evaluation.contains(key)) out["evaluated"][key] = evaluation.at(key);
  }
  return out;
}

Json figures_of(const RunFolder& before, const RunFolder& after) {
  for (const RunFolder* folder : {&before, &after}) {
    if (folder->has(kEvaluation)) continue;
    return {{"paired", false},
            {"why_not_paired", fmt::format("{} is missing: the run was not evaluated",
                                           folder->describe(kEvaluation))},
            {"groups", Json::object()}};
  }
  return compare_evaluations({before.read_json(kEvaluation), before.describe(kEvaluation)},
                             {after.read_json(kEvaluation), after.describe(kEvaluation)})
      .to_json();
}

}  // namespace

namespace {

Json compared(const RunFolder& before, const RunFolder& after,
              const std::function<bool(const std::string& key)>& decides_nothing) {
  const Json one = before.read_json(kRun), other = after.read_json(kRun);
  Json out = {{"before", facts_of(before)},
              {"after", facts_of(after)},
              {"config",
               config_changes(with_current_task(before.read_json("config.json")),
                              with_current_task(after.read_json("config.json")), decides_nothing)}};
  for (const char* key : {"dataset_hash", "code_version", "code", "libraries", "runtime", "decoder",
                          "hardware", "preprocessing_sha256", "init", "classes", "parameters"})
    out["run"][key] = part(one, other, key);
  out["evaluation"] = figures_of(before, after);
  return out;
}

}  // namespace

Json compare_runs(const RunFolder& before, const RunFolder& after,
                  const std::function<bool(const std::string& key)>& decides_nothing) {
  const std::string origin =
      fmt::format("{}, {} or {} of {} or {}", kRun, "config.json", "eval.json",
                  before.path().string(), after.path().string());
  return taking_apart(origin, [&] { return compared(before, after, decides_nothing); });
}

}  // namespace headrace::runs
