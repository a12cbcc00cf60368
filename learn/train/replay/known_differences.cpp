#include "learn/train/replay/known_differences.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "headrace/core/error.hpp"
#include "headrace/core/json_changes.hpp"
#include "headrace/loader/plan/run_preprocessing.hpp"
#include "learn/train/run/run_changes.hpp"

namespace headrace::train {
namespace {

using Kind = KnownDifference::Kind;

/// Keys of machine_facts that can decide bytes.
constexpr const char* kHardware[] = {"cpu", "instruction_set", "gpus", "gpu_driver"};

class Collector {
 public:
  explicit Collector(std::int64_t from_step) : from_step_(from_step) {}

  /// What the run does not record, as one of an earlier release, is not known to differ.
  void compare(Kind kind, const std::string& key, const Json& recorded, const Json& now) {
    if (recorded.is_null()) return;
    for (const JsonChange& change : changes_between({{key, recorded}}, {{key, now}}))
      found.push_back({kind, change.key, change.before, change.after, from_step_});
  }

  std::vector<KnownDifference> found;

 private:
  std::int64_t from_step_;
};

const Json& at_or_null(const Json& json, const char* key) {
  static const Json kNull;
  return json.is_object() && json.contains(key) ? json.at(key) : kNull;
}

/// What the program was built with, without the user's own functions: runs of earlier releases do
/// not record these.
Json without_python(Json code) {
  code.erase("python");
  return code;
}

/// What one start was computed by, against now.
std::vector<KnownDifference> computed_differently(const Json& recorded, const Json& now,
                                                  std::int64_t from_step) {
  Collector all(from_step);
  all.compare(Kind::dataset, "dataset_hash", at_or_null(recorded, "dataset_hash"),
              now.at("dataset_hash"));
  if (const Json& code = at_or_null(recorded, "code"); code.is_object()) {
    all.compare(Kind::code, "code", without_python(code), without_python(now.at("code")));
    all.compare(Kind::code, kPythonCode, at_or_null(code, "python"),
                at_or_null(now.at("code"), "python"));
  } else {
    all.compare(Kind::code, "code_version", at_or_null(recorded, "code_version"),
                now.at("code_version"));
  }
  all.compare(Kind::libraries, "libraries", at_or_null(recorded, "libraries"), now.at("libraries"));
  all.compare(Kind::libraries, "decoder", at_or_null(recorded, "decoder"), now.at("decoder"));
  all.compare(Kind::runtime, "runtime", at_or_null(recorded, "runtime"), now.at("runtime"));
  for (const char* key : kHardware) {
    all.compare(Kind::hardware, key, at_or_null(at_or_null(recorded, "hardware"), key),
                now.at("hardware").at(key));
  }
  return all.found;
}

std::vector<KnownDifference> fitted_differently(const RecordedRun& recorded,
                                                const loader::Preprocessing& fitted) {
  Collector all(0);
  try {
    all.compare(Kind::preprocessing, "preprocessing",
                loader::read_run_preprocessing(recorded.folder.files()).to_json(),
                fitted.to_json());
  } catch (const Error& error) {
    if (error.code() != ErrorCode::corrupt && error.code() != ErrorCode::malformed) throw;
    // The file was changed: what it held then is known by its hash alone.
    all.compare(Kind::preprocessing, loader::kPreprocessingHash,
                at_or_null(recorded.run, loader::kPreprocessingHash), error.what());
  }
  return all.found;
}

/// With the defaults of keys that came after the run was made.
Json in_full(const Json& config) {
  return config::RunConfig::parse(config.dump(), "the config of the run").to_json();
}

bool same_fact(const KnownDifference& a, const KnownDifference& b) {
  return a.kind == b.kind && a.key == b.key && a.recorded == b.recorded;
}

}  // namespace

std::string KnownDifference::text() const {
  const std::string change = JsonChange{key, recorded, now}.text("now");
  return fmt::format(
      "{}: {}{}", name_of(kind), change,
      from_step > 0 ? fmt::format(" (what took its steps after {})", from_step) : "");
}

Json KnownDifference::to_json() const {
  return {{"kind", name_of(kind)},
          {"key", key},
          {"recorded", recorded},
          {"now", now},
          {"from_step", from_step}};
}

std::vector<KnownDifference> config_differences(const RecordedRun& recorded,
                                                const config::RunConfig& used) {
  std::vector<KnownDifference> found;
  const Json now = used.to_json();
  for (const JsonChange& change : changes_between(in_full(recorded.started_with()), now)) {
    if (!config::RunConfig::decides_nothing(change.key) && !only_judges(change.key))
      found.push_back({Kind::config, change.key, change.before, change.after, 0});
  }
  // A resume may have changed how it is judged.
  for (const JsonChange& change : changes_between(in_full(recorded.judged_with()), now)) {
    if (only_judges(change.key))
      found.push_back({Kind::judging, change.key, change.before, change.after, 0});
  }
  const Json hash = at_or_null(recorded.run, "config_hash");
  if (found.empty() && recorded.starts.empty() && !hash.is_null() && hash != used.hash())
    found.push_back({Kind::config, "config_hash", hash, used.hash(), 0});
  return found;
}

std::vector<KnownDifference> made_differently(const RecordedRun& recorded, const Json& now,
                                              const loader::Preprocessing& fitted) {
  std::vector<KnownDifference> found;
  for (const Json& facts : recorded.computed_by()) {
    const auto from_step = facts.value("step", std::int64_t{0});
    for (KnownDifference& one : computed_differently(facts, now, from_step)) {
      const bool known = std::any_of(found.begin(), found.end(),
                                     [&](const auto& other) { return same_fact(one, other); });
      if (!known) found.push_back(std::move(one));
    }
  }
  for (KnownDifference& one : fitted_differently(recorded, fitted)) found.push_back(std::move(one));
  const Json began = at_or_null(recorded.run, "init");
  // Runs of earlier versions have the file's hash alone.
  const char* key = at_or_null(began, "weights_sha256").is_null() ? "sha256" : "weights_sha256";
  const Json before = at_or_null(began, key), after = at_or_null(now.at("init"), key);
  if (before != after)
    found.push_back({Kind::weights, fmt::format("init.{}", key), before, after, 0});
  return found;
}

}  // namespace headrace::train
