#pragma once
#include <filesystem>
#include <optional>
#include <string>

namespace headrace {

/// What a path that a user gave leads to, links followed.
enum class InputKind {
  file,
  folder,
  neither  ///< nothing, a link to nothing, a FIFO, a socket, a device, or no permission to look
};

InputKind input_kind(const std::string& path) noexcept;

/// The sentence that refuses a path that is neither: "PATH: there is no such file or folder", or what
/// it is instead.
std::string no_input(const std::string& path);

/// Why an entry of a folder is neither read nor looked into, as a clause ("a link that leads nowhere",
/// "a FIFO, not a file"); nothing for files and folders, and links to them.
std::optional<std::string> why_not_read(const std::filesystem::directory_entry& entry);

/// Whether a path lies in a folder, or below it, links followed; false where `folder` is empty.
bool lies_below(const std::string& path, const std::string& folder);

}  // namespace headrace
