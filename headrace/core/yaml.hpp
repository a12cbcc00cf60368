#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "headrace/core/json.hpp"

namespace YAML {
class Node;
}

namespace headrace {

/// One value of a YAML file, read strictly: a wrong type or an impossible value is an Error (usage)
/// that names the file, the line, the key path, what was found and what is accepted.
class YamlValue {
 public:
  /// All of a file's text, whatever it is: for files that need not be a mapping (YamlMap::parse).
  /// Errors: usage (not YAML, with the line; a key stands twice; an alias, or values that nest over 100
  /// deep).
  static YamlValue parse(const std::string& text, const std::string& name);
  YamlValue(std::shared_ptr<const YAML::Node> node, std::string file, std::string path);

  bool is_null() const;
  bool is_map() const;
  bool is_list() const;
  bool as_bool() const;
  std::int64_t as_int(std::int64_t low, std::int64_t high) const;
  double as_double(double low, double high) const;
  std::string as_string() const;
  std::string as_choice(const std::vector<std::string>& accepted) const;
  std::vector<YamlValue> as_list() const;
  /// The value with all that is in it: for options that other code reads. Plain words true, false,
  /// null and numbers are such values (YAML 1.2's core schema), quoted ones text.
  Json as_json() const;
  /// A list of exactly `count` values.
  std::vector<YamlValue> as_list(std::size_t count) const;

  /// Throws usage: "<file>:<line>: <path>: <problem>".
  [[noreturn]] void reject(const std::string& problem) const;
  std::string location() const;  ///< "<file>:<line>"

 private:
  friend class YamlMap;
  std::shared_ptr<const YAML::Node> node_;
  std::string file_, path_;
};

/// One mapping of a YAML file. Every key that is asked for becomes a valid key; `finish` refuses
/// the others with their line and the nearest valid key.
class YamlMap {
 public:
  /// Reads a file. Errors: not_found, malformed (with the line).
  static YamlMap load(const std::string& file);
  static YamlMap parse(const std::string& text, const std::string& name);
  explicit YamlMap(const YamlValue& value);

  std::optional<YamlValue> find(const std::string& key);
  YamlValue require(const std::string& key);
  /// A nested mapping; an empty one where the key is absent.
  YamlMap map(const std::string& key);

  std::vector<std::string> keys() const;
  /// Whether the key is there, also with null; does not make it a valid one.
  bool has(const std::string& key) const;
  /// Refuses keys that were not asked for. Call it last.
  void finish() const;

 private:
  YamlValue value_;
  std::vector<std::string> known_;
};

/// The candidate with the smallest edit distance, if it is near enough to be the intended one.
std::optional<std::string> nearest_name(std::string_view name,
                                        const std::vector<std::string>& candidates);

}  // namespace headrace
