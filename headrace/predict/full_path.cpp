#include "headrace/predict/full_path.hpp"

#include <filesystem>

namespace headrace::predict {

std::string full_path(const std::string& path) {
  const auto normal = std::filesystem::absolute(path).lexically_normal();
  return (normal.has_filename() ? normal : normal.parent_path()).string();
}

}  // namespace headrace::predict
