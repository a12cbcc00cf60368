#pragma once
#include <filesystem>
#include <string>

namespace headrace {

/// All bytes of a file. Errors: not_found (it can't be opened), io (it can't be read to its end).
std::string read_file(const std::filesystem::path& path);

}  // namespace headrace
