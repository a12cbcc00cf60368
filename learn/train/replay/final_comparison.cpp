#include "learn/train/replay/final_comparison.hpp"

#include <algorithm>

#include "headrace/core/json_changes.hpp"
#include "headrace/core/sha256.hpp"
#include "learn/runs/evaluation_check.hpp"
#include "learn/runs/weights_identity.hpp"
#include "learn/train/run/run_changes.hpp"

namespace headrace::train {
namespace {

constexpr const char* kEvaluation = "eval.json";

/// Keys that `headrace eval` adds when it makes the file again.
constexpr const char* kOfEval[] = {"weights", "weights_sha256", "gate", "own_gate"};

bool judged_otherwise(const RecordedRun& recorded) {
  for (const Json& start : recorded.starts) {
    const auto changes = changes_between(start.at("config"), recorded.judged_with());
    if (std::any_of(changes.begin(), changes.end(),
                    [](const JsonChange& change) { return decides_figures(change.key); }))
      return true;
  }
  return false;
}

Json validations_of(const std::vector<Json>& metrics) {
  Json out = Json::object();
  for (const Json& line : metrics) {
    if (line.contains("validation"))
      out["step " + std::to_string(line.at("step").get<std::int64_t>())] = line.at("validation");
  }
  return out;
}

class Comparison {
 public:
  Comparison(const runs::RunFolder& recorded, const runs::RunFolder& replayed, ReplayResult& result)
      : recorded_(recorded), replayed_(replayed), result_(result) {}

  /// With other keys of `eval` the metadata have another hash of the config.
  void weights(const std::string& name) {
    if (!both_have(name)) return;
    const auto before = recorded_.read(name), now = replayed_.read(name);
    if (name == runs::kFinalWeights) before_sha256_ = sha256_hex(before);
    const std::string one = runs::weights_identity(before, recorded_.describe(name));
    const std::string other = runs::weights_identity(now, replayed_.describe(name));
    if (before != now && one == other) {
      result_.files.push_back(name + " but for its metadata");
    } else {
      values(name, "", one, other);
    }
  }

  void evaluation() {
    if (!both_have(kEvaluation)) return;
    Json before = recorded_.read_json(kEvaluation), now = replayed_.read_json(kEvaluation);
    const bool same_weights = before.value("weights_sha256", Json()) == before_sha256_;
    for (Json* json : {&before, &now}) {
      json->erase("time");
      json->erase("store");        // its name: it may have moved
      json->erase(runs::kDigest);  // of all that is compared here
    }
    // What came into the file with a later release.
    for (const auto& [key, value] : Json(now).items()) {
      if (!before.contains(key)) now.erase(key);
    }
    for (const char* key : kOfEval) {
      // An earlier version noted the file's hash, in which metadata count.
      const bool of_metadata = std::string_view(key) == "weights_sha256" && same_weights;
      if (before.contains(key) && now.contains(key) && !of_metadata) continue;
      before.erase(key);
      now.erase(key);
    }
    tree(kEvaluation, before, now);
  }

  void tree(const std::string& name, const Json& before, const Json& now) {
    if (result_.difference) return;
    const auto changes = changes_between(before, now);
    if (changes.empty()) {
      result_.files.push_back(name);
    } else {
      values(name, ": " + changes.front().key, changes.front().before, changes.front().after);
    }
  }

 private:
  bool both_have(const std::string& name) {
    if (result_.difference) return false;
    if (recorded_.has(name) && replayed_.has(name)) return true;
    if (recorded_.has(name) != replayed_.has(name)) {
      const auto state = [&](const runs::RunFolder& folder) {
        return folder.has(name) ? "it" : "none";
      };
      values(name, "", state(recorded_), state(replayed_));
    }
    return false;
  }

  void values(const std::string& name, const std::string& place, const Json& before,
              const Json& now) {
    if (before == now) {
      result_.files.push_back(name);
    } else {
      result_.difference = ReplayDifference{
          ReplayDifference::What::figures, result_.steps, name + place, before, now, false};
    }
  }

  const runs::RunFolder& recorded_;
  const runs::RunFolder& replayed_;
  ReplayResult& result_;
  std::string before_sha256_;  ///< of the run's final weights
};

}  // namespace

void compare_results(const RecordedRun& recorded, const runs::RunFolder& replayed,
                     ReplayResult& result) {
  Comparison compare(recorded.folder, replayed, result);
  compare.weights(runs::kFinalWeights);
  if (judged_otherwise(recorded)) {
    result.notes.emplace_back(
        "A resume changed how the run is judged, so its best weights and validations are not "
        "those of one training and were not compared.");
  } else {
    compare.tree("validations of metrics.jsonl", validations_of(recorded.validations),
                 validations_of(replayed.metrics()));
    compare.weights(runs::kBestWeights);
  }
  compare.evaluation();
}

}  // namespace headrace::train
