#include "learn/report/run_data.hpp"

#include <algorithm>
#include <sstream>

#include "headrace/core/error.hpp"
#include "headrace/core/folder_walk.hpp"
#include "headrace/core/read_file.hpp"
#include "headrace/core/task_name.hpp"
#include "headrace/core/text.hpp"

namespace headrace::report {
namespace {

Json optional_json(const std::filesystem::path& path) {
  if (!std::filesystem::exists(path)) return nullptr;
  return parse_json(read_file(path), path.string());
}

/// Null also of a file that can't be read: one that only has the name of an evaluation.
Json json_or_null(const std::filesystem::path& path) {
  try {
    return optional_json(path);
  } catch (const Error&) {
    return nullptr;
  }
}

Json value_of(const Json& object, const char* key) {
  return object.is_object() ? object.value(key, Json()) : Json();
}

Json required_json(const std::filesystem::path& path) {
  if (!std::filesystem::exists(path)) {
    fail(ErrorCode::not_found, "{} is missing: {} is not a run folder.", path.string(),
         path.parent_path().string());
  }
  return optional_json(path);
}

}  // namespace

bool RunData::phantom() const {
  const Json cohorts = run.value("cohorts", Json::array());
  return std::any_of(cohorts.begin(), cohorts.end(), [](const Json& name) {
    return name.get<std::string>().starts_with("phantom");
  });
}

namespace {

/// Whether a key is one under which configs keep what gives access to something.
bool is_secret(const std::string& key) {
  const std::string plain = folded_name(key);
  for (const char* word : {"password", "passwd", "passphrase", "secret", "token", "credential",
                           "apikey", "accesskey", "privatekey", "authorization"}) {
    if (plain.find(word) != std::string::npos) return true;
  }
  return false;
}

/// An address without user, password and what follows a "?", any of which may be a credential.
std::string address_alone(const std::string& text) {
  const std::size_t begin = text.find("://") + 3;
  const std::size_t path = std::min(text.find_first_of("/?#", begin), text.size());
  const std::size_t at = text.rfind('@', path);
  const std::size_t host = at == std::string::npos || at < begin ? begin : at + 1;
  return text.substr(0, begin) + text.substr(host, text.find_first_of("?#", begin) - host);
}

std::string shown_text(const std::string& text) {
  const bool path = text.starts_with('/') || text.starts_with('~') || text.starts_with("./") ||
                    text.find("../") != std::string::npos || text.starts_with("file:");
  if (!path) return text.find("://") == std::string::npos ? text : address_alone(text);
  const std::filesystem::path whole = std::filesystem::path(text).lexically_normal();
  return (whole.has_filename() ? whole : whole.parent_path()).filename().string();
}

}  // namespace

Json without_paths(const Json& value) {
  if (value.is_string()) return shown_text(value.get<std::string>());
  if (!value.is_structured()) return value;
  Json out = value;
  for (auto& [key, child] : out.items()) {
    // A number such as `tokens: 256` gives access to nothing.
    const bool secret = value.is_object() && child.is_string() && is_secret(key);
    child = secret ? Json("(left out)") : without_paths(child);
  }
  return out;
}

RunData read_run(const std::filesystem::path& run) {
  RunData data;
  data.path = run;
  data.config = with_current_task(without_paths(required_json(run / "config.json")));
  data.run = required_json(run / "run.json");
  data.eval = optional_json(run / "eval.json");
  if (!data.eval.is_null() && !data.eval.contains("labels")) {
    fail(ErrorCode::unsupported,
         "{}: written by an earlier version. Evaluate the run again with headrace eval.",
         (run / "eval.json").string());
  }
  data.summary = optional_json(run / "summary.json");
  data.preprocessing = optional_json(run / "preprocessing.json");
  if (data.preprocessing.is_null()) data.preprocessing = Json::object();
  data.card = optional_json(run / "data_card.json");
  data.promoted = std::filesystem::exists(run / "gate.json");
  const Json promoted_by = optional_json(run / "gate.json");
  const Json judged = value_of(data.eval, "gate");
  const bool of_file = !value_of(judged, "file").is_null();
  if (of_file) data.file_gate = judged;
  for (const Json& gate : {promoted_by, of_file ? value_of(data.eval, "own_gate") : judged,
                           value_of(data.summary, "gate")}) {
    if (data.gate.is_null() && gate.is_object()) data.gate = gate;
  }
  if (std::filesystem::exists(run / "metrics.jsonl")) {
    std::istringstream text(read_file(run / "metrics.jsonl"));
    for (std::string line; std::getline(text, line) && !text.eof();) {
      data.metrics.push_back(parse_json(line, (run / "metrics.jsonl").string()));
    }
  }
  for (const auto& entry : list_folder(run)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("eval-") && name.ends_with(".json")) {
      data.other_evals.emplace_back(name, json_or_null(entry.path()));
    }
  }
  std::sort(data.other_evals.begin(), data.other_evals.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
  return data;
}

}  // namespace headrace::report
