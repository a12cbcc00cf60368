#include "headrace/core/input_path.hpp"

#include <fmt/format.h>

#include "headrace/core/regular_file.hpp"
#include "headrace/core/url_hint.hpp"

namespace headrace {

namespace fs = std::filesystem;

InputKind input_kind(const std::string& path) noexcept {
  std::error_code ignored;
  const fs::file_status status = fs::status(path, ignored);
  if (fs::is_regular_file(status)) return InputKind::file;
  return fs::is_directory(status) ? InputKind::folder : InputKind::neither;
}

std::string no_input(const std::string& path) {
  std::error_code failed, ignored;
  const fs::file_status status = fs::status(path, failed);
  if (fs::exists(status)) {
    return fmt::format("{}: is {}, expected a file or a folder", path, kind_of_path(status));
  }
  if (fs::is_symlink(fs::symlink_status(path, ignored))) {
    return fmt::format("{}: there is no such file or folder: it is a link to {}, which {}", path,
                       fs::read_symlink(path, ignored).string(),
                       status.type() == fs::file_type::not_found
                           ? "is not there"
                           : "can't be followed (" + failed.message() + ")");
  }
  if (failed && status.type() == fs::file_type::none)
    return fmt::format("{}: can't be looked at ({})", path, failed.message());
  return fmt::format("{}: there is no such file or folder{}", path, url_hint(path));
}

std::optional<std::string> why_not_read(const fs::directory_entry& entry) {
  std::error_code ignored;
  const fs::file_status status = entry.status(ignored);
  if (fs::is_regular_file(status) || fs::is_directory(status)) return std::nullopt;
  const bool link = fs::is_symlink(entry.symlink_status(ignored));
  if (!fs::exists(status))
    return link ? "a link that leads nowhere" : "gone or not to be looked at";
  return fmt::format("{}{}, not a file", link ? "a link to " : "", kind_of_path(status));
}

bool lies_below(const std::string& path, const std::string& folder) {
  if (folder.empty()) return false;
  std::error_code error;
  fs::path place = fs::weakly_canonical(path, error);
  if (error) place = fs::absolute(path).lexically_normal();  // a link that leads to itself
  const auto inside = place.lexically_relative(fs::weakly_canonical(folder, error));
  return !inside.empty() && *inside.begin() != "..";
}

}  // namespace headrace
