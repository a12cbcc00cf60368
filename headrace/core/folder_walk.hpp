#pragma once
#include <filesystem>
#include <functional>

namespace headrace {

/// Calls `visit` with each entry below a folder that is no folder, sorted by name. Linked folders are
/// followed, and each folder is entered once, however many links lead to it: by its own name where
/// that lies below, too. Folders whose name `enter` refuses are not entered. Errors: io (a folder that
/// can't be read, named as `folder`).
void walk_folder(const std::filesystem::path& folder,
                 const std::function<void(const std::filesystem::directory_entry&)>& visit,
                 const std::function<bool(const std::filesystem::path&)>& enter = {});

}  // namespace headrace
