#include "headrace/inference/volume/lesion_rule.hpp"

#include <fmt/ranges.h>

#include <algorithm>

#include "headrace/core/error.hpp"

namespace headrace::inference {

std::vector<std::uint8_t> lesion_class_values(const std::vector<std::string>& classes,
                                              const loader::RunConfig& config) {
  std::vector<std::uint8_t> out;
  if (config.task != loader::Task::colorectal) return out;
  for (const std::string& name : config.eval.lesion_classes) {
    const auto found = std::find(classes.begin(), classes.end(), name);
    if (found == classes.end() || found == classes.begin()) {
      fail(ErrorCode::usage,
           "eval.lesion_classes: '{}' is not a class above 0 of the store; there are {}.", name,
           fmt::join(classes.begin() + 1, classes.end(), ", "));
    }
    out.push_back(static_cast<std::uint8_t>(found - classes.begin()));
  }
  for (std::size_t c = 1; c < classes.size() && config.eval.lesion_classes.empty(); ++c)
    out.push_back(static_cast<std::uint8_t>(c));
  return out;
}

}  // namespace headrace::inference
