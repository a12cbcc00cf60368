#pragma once
#include <fmt/format.h>

#include <functional>
#include <string>
#include <utility>

namespace headrace::log {

enum class Level { debug, info, warning, error, off };

/// Takes one line without its end. Called by any thread, by several at once.
using Sink = std::function<void(Level, const std::string& line)>;

/// Where lines go from here on, for the whole process. Until it is called, or after an empty one,
/// nowhere: the library prints nothing itself. Safe from any thread.
void set_sink(Sink sink);

/// Sets the lowest level that reaches the sink (default: info). Safe from any thread.
void set_level(Level level) noexcept;

/// Hands one line to the sink; never patient identifiers. Safe from any thread.
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
