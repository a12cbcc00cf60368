#include "headrace/ingest/phi_check.hpp"

#include <algorithm>
#include <set>

#include "headrace/core/error.hpp"
#include "headrace/ingest/identifying_text.hpp"
#include "headrace/ingest/phi_rules.hpp"

namespace headrace::ingest {
namespace {

/// A key as it may be shown: itself when it can't identify, else its length.
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
    } else if (phi_leads_on(path_)) {
      report("a single value, expected a list or an object");
    } else {
      report("a key that stores of volumes do not have");
    }
  }

 private:
  void step(const std::string& key, const std::string& name, const Json& item) {
    // The manifest has the names of the objects for keys; those are checked as names.
    const bool object = object_ == "manifest.json" && path_ == std::vector<std::string>{"objects"};
    path_.push_back(object ? "*" : key);
    place_.push_back(name);
    value(item);
    path_.pop_back();
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

std::set<std::string> classes_of(const Json& root) {
  std::set<std::string> classes;
  const Json list = root.value("/attributes/headrace/classes"_json_pointer, Json());
  for (const Json& name : list.is_array() ? list : Json::array()) {
    if (name.is_string()) classes.insert(name.get<std::string>());
  }
  return classes;
}

/// What a JSON object of the store holds; an empty object when it is none, or damaged.
Json read_object(const storage::Store& store, const std::string& key) {
  if (!store.exists(key)) return Json::object();
  const Json json = Json::parse(store.get_text(key), nullptr, false);
  return json.is_object() ? json : Json::object();
}

/// The manifest's keys; nothing without a manifest that can be read.
std::optional<std::set<std::string>> listed_objects(const storage::Store& store) {
  const Json objects = read_object(store, "manifest.json").value("objects", Json());
  if (!objects.is_object()) return std::nullopt;
  std::set<std::string> keys;
  for (const auto& [key, entry] : objects.items()) keys.insert(key);
  return keys;
}

std::vector<PhiFinding> check_object(const storage::Store& store, const std::string& key,
                                     bool listed, const std::set<std::string>& classes) {
  std::vector<PhiFinding> found;
  if (listed && !phi_known_object(key))
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
  const auto classes = classes_of(read_object(store, "zarr.json"));
  const auto listed = listed_objects(store);
  const auto keys = store.list("");
  std::vector<std::vector<PhiFinding>> found(keys.size());
  pool.parallel_for(keys.size(), [&](std::size_t i) {
    found[i] = check_object(store, keys[i], !listed || listed->contains(keys[i]), classes);
  });
  std::vector<PhiFinding> all;
  for (auto& list : found) all.insert(all.end(), list.begin(), list.end());
  return all;
}

}  // namespace headrace::ingest
