#include "headrace/ingest/phi/phi_check.hpp"

#include <algorithm>
#include <set>

#include "headrace/cohort/store_version.hpp"
#include "headrace/core/error.hpp"
#include "headrace/core/json_depth.hpp"
#include "headrace/ingest/names/identifying_text.hpp"
#include "headrace/ingest/names/store_names.hpp"
#include "headrace/ingest/phi/phi_rules.hpp"

namespace headrace::ingest {
namespace {

/// A key in a form that may be shown: itself when it can't identify, else its length.
std::string shown(const std::string& key) {
  const bool plain = std::all_of(key.begin(), key.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '_' || c == '-' || c == '.' || c == ':';
  });
  if (plain && key.size() <= 40 && !why_identifying(key)) return key;
  return fmt::format("(a key of {} characters)", key.size());
}

class Walk {
 public:
  Walk(const std::string& object, const std::set<std::string>& classes,
       std::vector<PhiFinding>& found)
      : object_(object), classes_(classes), found_(found) {}

  void value(const Json& json) {
    if (const auto kind = phi_kind(path_)) {
      if (const auto problem = phi_problem(*kind, json, classes_)) report(*problem);
    } else if (json.is_object() && phi_leads_on(path_)) {
      for (const auto& [key, item] : json.items()) step(key, key, item);
    } else if (json.is_array() && phi_leads_on(path_)) {
      for (std::size_t i = 0; i < json.size(); ++i) step("*", std::to_string(i), json[i]);
    } else if (json.is_string() && is_note_place()) {
      report(
          "a sentence, as an older Headrace wrote notes; ingest into a new store, whose notes are "
          "codes");
    } else if (phi_leads_on(path_)) {
      report("a single value, expected a list or an object");
    } else {
      report("a key that stores of volumes do not have");
    }
  }

 private:
  void step(const std::string& key, const std::string& name, const Json& item) {
    // Names of images and label sets, and fingerprints, are keys too; names of objects are checked
    // with the objects.
    const bool named = is_name_place() && key != "*";
    if (named && path_.front() == "images") check_name(key, name);
    if (named && path_.front() == "groups") check_fingerprint(key, name);
    if (named && path_.front() == "facts") check_set_name(key, name);
    path_.push_back(named ? "*" : key);
    place_.push_back(name);
    value(item);
    path_.pop_back();
    place_.pop_back();
  }

  /// Whether the keys here are names that the store gives.
  bool is_name_place() const {
    if (path_.size() == 1) {
      return path_[0] == "objects" || path_[0] == "root" || path_[0] == "images" ||
             path_[0] == "groups";
    }
    if (path_ == std::vector<std::string>{"facts", "class_sets"}) return true;
    if (path_ == std::vector<std::string>{"images", "*", "columns", "free"}) return true;
    return path_.size() == 3 && path_[0] == "images" && path_[2] == "labels";
  }

  /// Whether a note of an image or its labels stands here.
  bool is_note_place() const {
    return path_ == std::vector<std::string>{"attributes", "headrace", "notes", "*"};
  }

  void check_set_name(const std::string& key, const std::string& name) {
    const auto problem = phi_problem(PhiKind::class_name, key, classes_);
    if (!problem) return;
    place_.push_back(name);
    report(*problem);
    place_.pop_back();
  }

  void check_name(const std::string& key, const std::string& name) {
    const auto why = why_no_name(key, false);
    if (!why) return;
    place_.push_back(name);
    report(fmt::format("a key of {} characters that {}", key.size(), *why));
    place_.pop_back();
  }

  void check_fingerprint(const std::string& key, const std::string& name) {
    const bool hash = key.size() == 64 && key.find_first_not_of("0123456789abcdef") == key.npos;
    if (hash) return;
    place_.push_back(name);
    report(fmt::format("a key of {} characters that is not a SHA-256", key.size()));
    place_.pop_back();
  }

  void report(const std::string& problem) {
    std::string at;
    for (const auto& key : place_) at += "/" + shown(key);
    found_.push_back({object_, at, problem});
  }

  const std::string& object_;
  const std::set<std::string>& classes_;
  std::vector<PhiFinding>& found_;
  std::vector<std::string> path_, place_;
};

/// The content of a JSON object of the store; an empty object when it is not JSON, or damaged.
Json read_object(const storage::Store& store, const std::string& key) {
  if (!store.exists(key)) return Json::object();
  const Json json = json_or_discarded(store.get_text(key));
  return json.is_object() ? json : Json::object();
}

/// Classes of every version that can be read.
std::set<std::string> classes_of(const storage::Store& store) {
  std::set<std::string> classes;
  for (const Json& commit : read_object(store, "manifest.json").value("log", Json::array())) {
    const Json version = commit.is_object() ? commit.value("version", Json()) : Json();
    if (!version.is_string()) continue;
    const Json whole = read_object(store, cohort::version_key(version.get<std::string>()));
    const Json sets = whole.value("/facts/class_sets"_json_pointer, Json::object());
    for (const auto& [name, members] : sets.items()) classes.insert(name);
    const Json list = whole.value("classes", Json());
    for (const Json& name : list.is_array() ? list : Json::array()) {
      if (name.is_string()) classes.insert(name.get<std::string>());
    }
  }
  return classes;
}

std::vector<PhiFinding> check_object(const storage::Store& store, const std::string& key,
                                     const std::set<std::string>& classes) {
  std::vector<PhiFinding> found;
  if (!phi_known_object(key))
    found.push_back({key, "", "a name that objects of such stores do not have"});
  if (!key.ends_with(".json")) return found;
  try {
    Walk(key, classes, found).value(parse_json(store.get_text(key), key));
  } catch (const Error& error) {
    if (error.code() != ErrorCode::malformed) throw;
    found.push_back({key, "", "no JSON, so what it holds is not known"});
  }
  return found;
}

}  // namespace

bool holds_volumes(const storage::Store& store) {
  return read_object(store, "zarr.json").value("/attributes/headrace/kind"_json_pointer, Json()) ==
         "volume";
}

std::vector<PhiFinding> check_phi(const storage::Store& store, ThreadPool& pool) {
  const auto classes = classes_of(store);
  auto keys = store.list("");
  std::erase_if(keys, [](const std::string& key) { return key.starts_with(".ingest/"); });
  std::vector<std::vector<PhiFinding>> found(keys.size());
  pool.parallel_for(keys.size(),
                    [&](std::size_t i) { found[i] = check_object(store, keys[i], classes); });
  std::vector<PhiFinding> all;
  for (auto& list : found) all.insert(all.end(), list.begin(), list.end());
  return all;
}

}  // namespace headrace::ingest
