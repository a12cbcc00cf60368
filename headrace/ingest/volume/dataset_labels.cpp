#include "headrace/ingest/volume/dataset_labels.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <set>

#include "headrace/core/error.hpp"

namespace headrace::ingest {
namespace {

constexpr int kMostClasses = 255, kHighest = 65535;

class Labels {
 public:
  Labels(const Json& dataset, std::vector<std::string> keys, const std::string& path)
      : dataset_(dataset), keys_(std::move(keys)), path_(path) {}

  LabelList read() {
    const Json labels = dataset_.value("labels", Json());
    if (!labels.is_object() || labels.empty()) {
      fail(ErrorCode::malformed,
           "{}: labels must be an object of names and values, with a background", path_);
    }
    for (const auto& [key, value] : labels.items()) has_regions_ = has_regions_ || is_region(value);
    for (const std::string& key : keys_) {
      const Json& value = labels.at(key);
      if (is_region(value)) {
        for (const Json& part : value) in_regions_.insert(whole(part, key));
        regions_.push_back(key);
      } else if (value.is_array()) {  // the background as a list
        name(0, key);
      } else if (value.is_string() && whole_number(Json(key))) {  // value → name
        name(whole(Json(key), key), value.get<std::string>());
      } else {
        read_value(key, value);
      }
    }
    if (has_regions_) name_regions();
    number_classes();
    return std::move(found_);
  }

 private:
  int whole(const Json& value, const std::string& label) const {
    const auto number = whole_number(value);
    if (!number || *number < 0 || *number > kHighest) {
      fail(ErrorCode::malformed,
           "{}: label '{}' has the value {}, expected an integer from 0 to {}", path_, label,
           value.dump(), kHighest);
    }
    return static_cast<int>(*number);
  }

  void name(int value, const std::string& label) {
    if (label == "ignore") {
      found_.ignore_value = value;
    } else if (!names_.try_emplace(value, label).second) {
      fail(ErrorCode::malformed, "{}: labels '{}' and '{}' have the same value {}", path_,
           names_[value], label, value);
    }
  }

  void read_value(const std::string& label, const Json& value) {
    const int number = whole(value, label);
    // Where there are regions, a single value is one, too, but for background and ignore.
    if (number == 0 || label == "ignore" || !has_regions_) {
      name(number, label);
    } else {
      regions_.push_back(label);
      in_regions_.insert(number);
    }
  }

  static bool is_region(const Json& value) {
    return value.is_array() && std::any_of(value.begin(), value.end(), [](const Json& part) {
             return whole_number(part) != 0;
           });
  }

  void name_regions() {
    in_regions_.erase(0);
    const Json order = dataset_.value("regions_class_order", Json());
    if (!order.is_array() || order.size() != regions_.size()) {
      fail(ErrorCode::unsupported,
           "{}: labels are regions of several values ({}), and regions_class_order does not list a "
           "value for each; add it, or write a dataset.json in which each value has one name",
           path_, fmt::join(regions_, ", "));
    }
    std::vector<std::string> parts;
    for (std::size_t i = 0; i < regions_.size(); ++i) {
      const int value = whole(order[i], regions_[i]);
      name(value, regions_[i]);
      in_regions_.erase(value);
      parts.push_back(fmt::format("{} '{}'", value, regions_[i]));
    }
    if (!in_regions_.empty()) {
      fail(ErrorCode::unsupported,
           "{}: regions hold the value {}, to which regions_class_order gives no region; write a "
           "dataset.json in which each value has one name",
           path_, *in_regions_.begin());
    }
    found_.notes.push_back(fmt::format(
        "{}: labels are regions; as in nnU-Net's predictions a value is named by the last region of "
        "regions_class_order that it stands for: {}.",
        path_, fmt::join(parts, ", ")));
  }

  void number_classes() {
    for (const auto& [number, label] : names_) {
      if (number != static_cast<int>(found_.classes.size()) || number >= kMostClasses) {
        fail(ErrorCode::malformed,
             "{}: label '{}' has the value {}, expected 0, 1, 2 … without a gap, below {}", path_,
             label, number, kMostClasses);
      }
      found_.classes.push_back(label);
    }
  }

  const Json& dataset_;
  std::vector<std::string> keys_;  ///< of the labels, in the order of the file
  std::string path_;
  bool has_regions_ = false;
  std::map<int, std::string> names_;
  std::vector<std::string> regions_;
  std::set<int> in_regions_;  ///< values
  LabelList found_;
};

}  // namespace

std::optional<std::int64_t> whole_number(const Json& value) {
  if (value.is_number_integer()) return value.get<std::int64_t>();
  if (value.is_number_float()) {
    const auto number = value.get<double>();
    constexpr double kMost = 1e15;
    if (number != std::floor(number) || std::abs(number) > kMost) return std::nullopt;
    return static_cast<std::int64_t>(number);
  }
  if (!value.is_string()) return std::nullopt;
  const auto& text = value.get_ref<const std::string&>();
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

LabelList read_label_list(const std::string& text, const std::string& path) {
  const Json dataset = parse_json(text, path);
  std::vector<std::string> keys;
  // The order of regions is that of the file, which Json does not keep.
  const auto ordered = nlohmann::ordered_json::parse(text);
  if (ordered.contains("labels") && ordered["labels"].is_object()) {
    for (const auto& [key, value] : ordered["labels"].items()) keys.push_back(key);
  }
  return Labels(dataset, std::move(keys), path).read();
}

}  // namespace headrace::ingest
