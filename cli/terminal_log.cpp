#include "cli/terminal_log.hpp"

#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include <memory>
#include <string>

#include "headrace/core/log.hpp"

namespace headrace::cli {
namespace {

spdlog::level::level_enum to_spdlog(log::Level level) noexcept {
  switch (level) {
    case log::Level::debug:
      return spdlog::level::debug;
    case log::Level::info:
      return spdlog::level::info;
    case log::Level::warning:
      return spdlog::level::warn;
    case log::Level::error:
      return spdlog::level::err;
    case log::Level::off:
      return spdlog::level::off;
  }
  return spdlog::level::info;
}

}  // namespace

void log_to_standard_error() {
  auto logger = std::make_shared<spdlog::logger>(
      "headrace", std::make_shared<spdlog::sinks::stderr_color_sink_mt>());
  logger->set_pattern("%^%L%$ %v");
  logger->set_level(spdlog::level::trace);  // log::set_level has chosen already
  log::set_sink(
      [logger](log::Level level, const std::string& line) { logger->log(to_spdlog(level), line); });
}

}  // namespace headrace::cli
