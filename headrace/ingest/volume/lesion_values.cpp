#include "headrace/ingest/volume/lesion_values.hpp"

#include <algorithm>

#include "headrace/core/error.hpp"
#include "headrace/core/option_name.hpp"
#include "headrace/core/yaml.hpp"

namespace headrace::ingest {

std::vector<std::uint16_t> lesion_values(const std::vector<std::string>& lesion_classes,
                                         const std::vector<std::string>& classes,
                                         const std::vector<ClassSet>& sets) {
  std::vector<std::uint16_t> values;
  for (std::size_t v = 1; lesion_classes.empty() && v < classes.size(); ++v) {
    values.push_back(static_cast<std::uint16_t>(v));
  }
  for (const auto& name : lesion_classes) {
    const auto found = std::find(classes.begin(), classes.end(), name);
    if (found == classes.end()) {
      const auto nearest = nearest_name(name, classes);
      fail(ErrorCode::usage, "{}: '{}' is none of the classes ({}){}", Option{"lesion_classes"},
           name, fmt::join(classes, ", "),
           nearest ? fmt::format("; did you mean '{}'?", *nearest) : "");
    }
    values.push_back(static_cast<std::uint16_t>(found - classes.begin()));
  }
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  std::vector<bool> lesion(classes.size());
  for (const std::uint16_t value : values) lesion[value] = true;
  const auto membership = region_membership(lesion, sets);
  for (std::size_t v = classes.size(); v < classes.size() + sets.size(); ++v) {
    if (membership[v] == Membership::inside) values.push_back(static_cast<std::uint16_t>(v));
  }
  return values;
}

}  // namespace headrace::ingest
