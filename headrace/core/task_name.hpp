#pragma once
#include <string>
#include <string_view>

#include "headrace/core/json.hpp"

namespace headrace {

/// The name that a task has now, of the name in a file: runs of earlier versions named two of them
/// by the first organs that they were for.
inline std::string_view current_task(std::string_view name) {
  if (name == "gleason") return "grading";
  if (name == "colorectal") return "lesions";
  return name;
}

/// A run's config.json with that name.
inline Json with_current_task(Json config) {
  if (const auto task = config.find("task"); task != config.end() && task->is_string())
    *task = current_task(task->get<std::string>());
  return config;
}

}  // namespace headrace
