#pragma once
#include <cstdint>
#include <filesystem>
#include <string>

namespace headrace {

/// What files of a kind may have, so that a wrong path does not fill the memory: configs and lists that
/// people write, tables, and all others.
inline constexpr std::uint64_t kMostConfigBytes = std::uint64_t{1} << 20;
inline constexpr std::uint64_t kMostTableBytes = std::uint64_t{256} << 20;
inline constexpr std::uint64_t kMostFileBytes = std::uint64_t{1} << 30;

/// All bytes of a file; never waits for any (regular_file.hpp). Errors: not_found (there is none), io
/// (no regular file; it can't be read to its end), malformed (more than `most_bytes`, of which no more
/// are read).
std::string read_file(const std::filesystem::path& path, std::uint64_t most_bytes = kMostFileBytes);

/// The same of a file that the system has or has not, such as those of /proc; empty where it can't be
/// read.
std::string read_file_if_there(const std::filesystem::path& path);

}  // namespace headrace
