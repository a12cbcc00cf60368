#pragma once
#include <fmt/format.h>

#include <string>
#include <utility>

namespace headrace::log {

enum class Level { debug, info, warning, error, off };

/// Sets the lowest level that is written (default: info). Everything goes to standard error.
void set_level(Level level) noexcept;

/// Writes one line to standard error; never patient identifiers. Safe from any thread.
void write(Level level, const std::string& line);

template <typename... Args>
void info(fmt::format_string<Args...> format, Args&&... args) {
  write(Level::info, fmt::format(format, std::forward<Args>(args)...));
}
template <typename... Args>
void warning(fmt::format_string<Args...> format, Args&&... args) {
  write(Level::warning, fmt::format(format, std::forward<Args>(args)...));
}
template <typename... Args>
void debug(fmt::format_string<Args...> format, Args&&... args) {
  write(Level::debug, fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace headrace::log
