#pragma once
#include <filesystem>
#include <functional>
#include <vector>

namespace headrace {

/// What lies in a folder, sorted by name. Errors: io (names the folder).
std::vector<std::filesystem::directory_entry> list_folder(const std::filesystem::path& folder);

/// The same; nothing where there is no such folder, or it can't be read.
std::vector<std::filesystem::directory_entry> list_folder_if_there(
    const std::filesystem::path& folder);

/// Calls `visit` with each entry below a folder that is no folder, sorted by name. Linked folders are
/// followed, and each folder is entered once, however many links lead to it: by its own name where
/// that lies below, too. Folders whose name `enter` refuses are not entered. Errors: io (a folder that
/// can't be read, named as `folder`).
void walk_folder(const std::filesystem::path& folder,
                 const std::function<void(const std::filesystem::directory_entry&)>& visit,
                 const std::function<bool(const std::filesystem::path&)>& enter = {});

}  // namespace headrace
