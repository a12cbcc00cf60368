#include "headrace/core/foreign_error.hpp"

#include <filesystem>

namespace headrace {

std::optional<Error> error_from(const std::exception& foreign) {
  if (const auto* files = dynamic_cast<const std::filesystem::filesystem_error*>(&foreign)) {
    const std::string path = files->path1().string(), other = files->path2().string();
    return Error(ErrorCode::io,
                 fmt::format("{}{}: can't be used: {}", path.empty() ? "a file or folder" : path,
                             other.empty() ? "" : ", " + other, files->code().message()));
  }
  if (const auto* json = dynamic_cast<const Json::exception*>(&foreign)) {
    return Error(ErrorCode::malformed,
                 fmt::format("JSON of a file that was read has a value of another kind than "
                             "expected: {}",
                             json_fault(*json)));
  }
  return std::nullopt;
}

}  // namespace headrace
