#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "learn/config/run_config_parts.hpp"

namespace headrace::config::detail {
namespace {

Fields tracker_fields(RunConfig::Tracker& tracker) {
  return {
      {"to", form::choice(tracker.to), ""},
      {"url", form::text_or_null(tracker.url), ""},
      {"folder", form::text_or_null(tracker.folder), ""},
      {"experiment", form::text(tracker.experiment), ""},
      {"name", form::text_or_null(tracker.name), ""},
      {"fields", form::texts(tracker.fields), ""},
      {"pictures", form::flag(tracker.pictures), ""},
      {"ca_file", form::text_or_null(tracker.ca_file), ""},
      {"wait_s", form::number(tracker.wait_s, 0, 86'400), ""},
  };
}

/// What may be a secret is not said back.
void check_url(const YamlValue& entry, const std::string& url) {
  if (url.find_first_of("@?#") != std::string::npos) {
    entry.reject(
        "the url holds @, ? or #, so perhaps a user's name, password or token, which would be kept "
        "in the run folder. Give the server's address alone, and those by the environment: "
        "MLFLOW_TRACKING_USERNAME and MLFLOW_TRACKING_PASSWORD, MLFLOW_TRACKING_TOKEN, or "
        "WANDB_API_KEY");
  }
  const bool secure = url.starts_with("https://");
  if (!secure && !url.starts_with("http://"))
    entry.reject(fmt::format("url '{}' must begin with http:// or https://", url));
  const std::string rest = url.substr(secure ? 8 : 7);
  const std::string host = rest.substr(0, rest.find('/'));
  if (host.empty()) entry.reject(fmt::format("url '{}' names no host", url));
}

void check_words(const YamlValue& entry, const char* key, const std::vector<std::string>& given,
                 const std::vector<std::string>& accepted) {
  for (const std::string& one : given) {
    if (std::find(accepted.begin(), accepted.end(), one) == accepted.end()) {
      std::string all;
      for (const std::string& word : accepted) all += (all.empty() ? "" : ", ") + word;
      entry.reject(fmt::format("'{}' in {} is none of {}", one, key, all));
    }
  }
}

/// The same rules as headrace.track's Target, so that a mistake is found before the first step.
RunConfig::Tracker read_tracker(const YamlValue& entry) {
  using Kind = TrackerKind;
  YamlMap map(entry);
  RunConfig::Tracker tracker;
  map.require("to");
  read_fields(map, tracker_fields(tracker));
  map.finish();
  if (tracker.to == Kind::mlflow && tracker.url.empty())
    entry.reject("mlflow needs a url, such as http://127.0.0.1:5000");
  if (tracker.to == Kind::mlflow && !tracker.folder.empty())
    entry.reject("mlflow takes a url, not a folder");
  if (tracker.to == Kind::tensorboard && !tracker.url.empty())
    entry.reject("tensorboard writes files: give a folder in place of the url, or neither");
  if (!tracker.url.empty()) check_url(entry, tracker.url);
  check_words(entry, "fields", tracker.fields, {"cohorts", "scanners", "phases"});
  const bool plain = std::all_of(tracker.name.begin(), tracker.name.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '-' || c == '_';
  });
  if (!plain || tracker.name.size() > 64 || tracker.name.starts_with('-'))
    entry.reject("name must consist of up to 64 letters, digits, - and _: it names files");
  if (tracker.experiment.empty() || tracker.experiment.size() > 128)
    entry.reject("experiment must have 1 to 128 characters");
  return tracker;
}

}  // namespace

Field tracking_field(RunConfig& config) {
  const Form form{[&config](const YamlValue& list) { read_tracking(list, config); },
                  [&config] {
                    Json list = Json::array();
                    for (RunConfig::Tracker& one : config.tracking)
                      list.push_back(fields_json(tracker_fields(one)));
                    return list;
                  },
                  "a list of {to, url, folder, experiment, name, fields, pictures, ca_file, "
                  "wait_s}",
                  {}};
  return Field{"tracking", form, "trackers that the run is sent to while it trains", "none"}
      .decides_nothing()
      .written_if(!config.tracking.empty());
}

void read_tracking(const YamlValue& list, RunConfig& config) {
  config.tracking.clear();
  for (const YamlValue& entry : list.as_list()) {
    RunConfig::Tracker tracker = read_tracker(entry);
    for (const RunConfig::Tracker& other : config.tracking) {
      if (other.file_name() == tracker.file_name()) {
        entry.reject(fmt::format("two trackers are called {}: give one of them another name",
                                 tracker.file_name()));
      }
    }
    config.tracking.push_back(std::move(tracker));
  }
}

}  // namespace headrace::config::detail
