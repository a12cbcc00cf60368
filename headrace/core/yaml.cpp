#include "headrace/core/yaml.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>
#include <sstream>

#include "headrace/core/error.hpp"
#include "headrace/core/read_file.hpp"
#include "headrace/core/utf8.hpp"

namespace headrace {
namespace {

std::string kind_of(const YAML::Node& node) {
  switch (node.Type()) {
    case YAML::NodeType::Null:
      return "nothing";
    case YAML::NodeType::Scalar:
      return fmt::format("'{}'", node.Scalar());
    case YAML::NodeType::Sequence:
      return fmt::format("a list of {}", node.size());
    case YAML::NodeType::Map:
      return "a mapping";
    default:
      return "nothing";
  }
}

/// Text in quotes: "3" is no number, and "true" no truth value.
bool is_quoted(const YAML::Node& node) { return node.IsScalar() && node.Tag() == "!"; }

/// What stands where something else is expected.
std::string found_in(const YAML::Node& node) {
  const std::string found = kind_of(node);
  return is_quoted(node) ? fmt::format("the text {}; write it without quotes", found) : found;
}

std::string join(const std::string& path, const std::string& key) {
  return path.empty() ? key : path + "." + key;
}

/// Looks at a text before anything is made of it: an alias puts one part of the file at many places,
/// or into itself, where a walk over the values would not come to an end.
class PlainNesting : public YAML::EventHandler {
 public:
  explicit PlainNesting(const std::string& file) : file_(file) {}

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark&, YAML::anchor_t) override {}
  void OnScalar(const YAML::Mark&, const std::string&, YAML::anchor_t,
                const std::string&) override {}
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override {
    fail(ErrorCode::usage,
         "{}:{}: an alias ('*') stands for another part of the file; write that part again in its "
         "place",
         file_, mark.line + 1);
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t,
                       YAML::EmitterStyle::value) override {
    deeper(mark);
  }
  void OnSequenceEnd() override { --depth_; }
  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t,
                  YAML::EmitterStyle::value) override {
    deeper(mark);
  }
  void OnMapEnd() override { --depth_; }

 private:
  void deeper(const YAML::Mark& mark) {
    constexpr int kMostDepth = 100;
    if (++depth_ <= kMostDepth) return;
    fail(ErrorCode::usage, "{}:{}: values nest over {} deep", file_, mark.line + 1, kMostDepth);
  }

  const std::string& file_;
  int depth_ = 0;
};

void refuse_repeated_keys(const YAML::Node& node, const std::string& file) {
  if (node.IsMap()) {
    std::set<std::string> seen;
    for (const auto& entry : node) {
      if (!entry.first.IsScalar()) {
        fail(ErrorCode::usage, "{}:{}: a key must be a word", file, entry.first.Mark().line + 1);
      }
      if (!seen.insert(entry.first.Scalar()).second) {
        fail(ErrorCode::usage, "{}:{}: key '{}' stands twice in the same mapping; keep one", file,
             entry.first.Mark().line + 1, entry.first.Scalar());
      }
      refuse_repeated_keys(entry.second, file);
    }
  } else if (node.IsSequence()) {
    for (const auto& entry : node) refuse_repeated_keys(entry, file);
  }
}

/// A scalar that is not quoted.
Json plain_scalar(const std::string& text) {
  if (text.empty() || text == "~" || text == "null") return nullptr;
  if (text == "true" || text == "false") return text == "true";
  const char* end = text.data() + text.size();
  std::int64_t whole = 0;
  if (const auto read = std::from_chars(text.data(), end, whole);
      read.ec == std::errc() && read.ptr == end)
    return whole;
  double number = 0;
  if (const auto read = std::from_chars(text.data(), end, number);
      read.ec == std::errc() && read.ptr == end && std::isfinite(number))
    return number;
  return text;
}

Json json_of(const YAML::Node& node) {
  if (node.IsMap()) {
    Json out = Json::object();
    for (const auto& entry : node) out[entry.first.Scalar()] = json_of(entry.second);
    return out;
  }
  if (node.IsSequence()) {
    Json out = Json::array();
    for (const auto& entry : node) out.push_back(json_of(entry));
    return out;
  }
  if (!node.IsScalar()) return nullptr;
  return is_quoted(node) ? Json(node.Scalar()) : plain_scalar(node.Scalar());
}

}  // namespace

YamlValue YamlValue::parse(const std::string& text, const std::string& name) {
  try {
    std::istringstream plain(text);
    PlainNesting nesting(name);
    YAML::Parser(plain).HandleNextDocument(nesting);
    const auto node = std::make_shared<const YAML::Node>(YAML::Load(text));
    refuse_repeated_keys(*node, name);
    return {node, name, ""};
  } catch (const YAML::Exception& error) {
    fail(ErrorCode::usage, "{}:{}: not valid YAML: {}", name, error.mark.line + 1, error.msg);
  }
}

YamlValue::YamlValue(std::shared_ptr<const YAML::Node> node, std::string file, std::string path)
    : node_(std::move(node)), file_(std::move(file)), path_(std::move(path)) {}

std::string YamlValue::location() const {
  return fmt::format("{}:{}", file_, node_->Mark().line + 1);
}

void YamlValue::reject(const std::string& problem) const {
  fail(ErrorCode::usage, "{}: {}: {}", location(), path_.empty() ? "top level" : path_, problem);
}

bool YamlValue::is_null() const { return node_->IsNull(); }
bool YamlValue::is_map() const { return node_->IsMap(); }
bool YamlValue::is_list() const { return node_->IsSequence(); }

bool YamlValue::as_bool() const {
  if (node_->IsScalar() && !is_quoted(*node_)) {
    if (node_->Scalar() == "true") return true;
    if (node_->Scalar() == "false") return false;
  }
  reject(fmt::format("expected true or false, found {}", found_in(*node_)));
}

std::int64_t YamlValue::as_int(std::int64_t low, std::int64_t high) const {
  std::int64_t value = 0;
  const std::string text = node_->IsScalar() ? node_->Scalar() : std::string();
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (is_quoted(*node_) || text.empty() || error != std::errc() ||
      end != text.data() + text.size()) {
    reject(fmt::format("expected a whole number, found {}", found_in(*node_)));
  }
  if (value < low || value > high)
    reject(fmt::format("expected {} to {}, found {}", low, high, value));
  return value;
}

double YamlValue::as_double(double low, double high) const {
  double value = 0;
  const std::string text = node_->IsScalar() ? node_->Scalar() : std::string();
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (is_quoted(*node_) || text.empty() || error != std::errc() ||
      end != text.data() + text.size() || !std::isfinite(value)) {
    reject(fmt::format("expected a number, found {}", found_in(*node_)));
  }
  if (value < low || value > high)
    reject(fmt::format("expected {} to {}, found {}", low, high, value));
  return value;
}

std::string YamlValue::as_string() const {
  if (!node_->IsScalar()) reject(fmt::format("expected text, found {}", kind_of(*node_)));
  return node_->Scalar();
}

std::string YamlValue::as_choice(const std::vector<std::string>& accepted) const {
  const std::string text = as_string();
  if (std::find(accepted.begin(), accepted.end(), text) != accepted.end()) return text;
  const auto nearest = nearest_name(text, accepted);
  reject(fmt::format("'{}' is none of: {}{}", text, fmt::join(accepted, ", "),
                     nearest ? fmt::format(". Did you mean '{}'?", *nearest) : ""));
}

Json YamlValue::as_json() const { return json_of(*node_); }

std::vector<YamlValue> YamlValue::as_list() const {
  if (!node_->IsSequence()) reject(fmt::format("expected a list, found {}", kind_of(*node_)));
  std::vector<YamlValue> values;
  for (std::size_t i = 0; i < node_->size(); ++i) {
    values.emplace_back(std::make_shared<YAML::Node>((*node_)[i]), file_,
                        fmt::format("{}[{}]", path_, i));
  }
  return values;
}

std::vector<YamlValue> YamlValue::as_list(std::size_t count) const {
  auto values = as_list();
  if (values.size() != count)
    reject(fmt::format("expected a list of {}, found {}", count, values.size()));
  return values;
}

YamlMap YamlMap::load(const std::string& file) {
  return parse(text_of_bytes(read_file(file, kMostConfigBytes), file), file);
}

YamlMap YamlMap::parse(const std::string& text, const std::string& name) {
  return YamlMap(YamlValue::parse(text, name));
}

YamlMap::YamlMap(const YamlValue& value) : value_(value) {
  if (!value_.is_null() && !value_.is_map()) {
    value_.reject(fmt::format("expected a mapping, found {}", kind_of(*value_.node_)));
  }
}

std::optional<YamlValue> YamlMap::find(const std::string& key) {
  if (std::find(known_.begin(), known_.end(), key) == known_.end()) known_.push_back(key);
  if (value_.is_null()) return std::nullopt;
  const YAML::Node child = (*value_.node_)[key];
  if (!child.IsDefined() || child.IsNull()) return std::nullopt;
  return YamlValue(std::make_shared<YAML::Node>(child), value_.file_, join(value_.path_, key));
}

bool YamlMap::has(const std::string& key) const {
  const auto all = keys();
  return std::find(all.begin(), all.end(), key) != all.end();
}

YamlValue YamlMap::require(const std::string& key) {
  if (auto value = find(key)) return *value;
  value_.reject(fmt::format("the key '{}' is required", key));
}

YamlMap YamlMap::map(const std::string& key) {
  if (auto value = find(key)) return YamlMap(*value);
  return YamlMap(YamlValue(std::make_shared<YAML::Node>(), value_.file_, join(value_.path_, key)));
}

std::vector<std::string> YamlMap::keys() const {
  std::vector<std::string> names;
  if (value_.is_map()) {
    for (const auto& entry : *value_.node_) names.push_back(entry.first.Scalar());
  }
  return names;
}

void YamlMap::finish() const {
  if (!value_.is_map()) return;
  for (const auto& entry : *value_.node_) {
    const std::string key = entry.first.Scalar();
    if (std::find(known_.begin(), known_.end(), key) != known_.end()) continue;
    const auto nearest = nearest_name(key, known_);
    fail(ErrorCode::usage, "{}:{}: unknown key '{}'{}. {}", value_.file_,
         entry.first.Mark().line + 1, key,
         value_.path_.empty() ? "" : fmt::format(" in '{}'", value_.path_),
         nearest ? fmt::format("Did you mean '{}'?", *nearest)
                 : fmt::format("Valid keys: {}", fmt::join(known_, ", ")));
  }
}

std::optional<std::string> nearest_name(std::string_view name,
                                        const std::vector<std::string>& candidates) {
  std::optional<std::string> best;
  std::size_t best_distance = std::max<std::size_t>(2, name.size() / 2) + 1;
  for (const std::string& candidate : candidates) {
    std::vector<std::size_t> row(candidate.size() + 1);
    for (std::size_t j = 0; j <= candidate.size(); ++j) row[j] = j;
    for (std::size_t i = 1; i <= name.size(); ++i) {
      std::size_t diagonal = row[0];
      row[0] = i;
      for (std::size_t j = 1; j <= candidate.size(); ++j) {
        const std::size_t above = row[j];
        row[j] = std::min(
            {row[j] + 1, row[j - 1] + 1, diagonal + (name[i - 1] == candidate[j - 1] ? 0 : 1)});
        diagonal = above;
      }
    }
    // The beginning of a name ('rotate' for 'rotate_deg') counts as one edit.
    const bool begun = name.size() >= 3 && candidate.starts_with(name);
    const std::size_t distance = begun ? std::min<std::size_t>(row.back(), 1) : row.back();
    if (distance < best_distance) {
      best_distance = distance;
      best = candidate;
    }
  }
  return best;
}

}  // namespace headrace
