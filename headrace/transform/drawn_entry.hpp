#pragma once
#include <string>
#include <utility>
#include <vector>

#include "headrace/core/json.hpp"

namespace headrace::transform {

/// The values that one entry of the list drew, by name; empty where it was left out or has nothing
/// random.
struct DrawnEntry {
  std::string transform;
  std::vector<std::pair<const char*, double>> values;
};

/// The list as JSON: one object for each entry, in order.
inline Json describe(const std::vector<DrawnEntry>& drawn) {
  Json list = Json::array();
  for (const DrawnEntry& entry : drawn) {
    Json values = Json::object();
    for (const auto& [name, value] : entry.values) values[name] = value;
    list.push_back({{entry.transform, values}});
  }
  return list;
}

}  // namespace headrace::transform
