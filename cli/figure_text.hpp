#pragma once
#include <fmt/format.h>

#include <string>

#include "headrace/core/json.hpp"

namespace headrace::cli {

/// A figure of eval.json or summary.json in printed form.
inline std::string figure(const Json& value) {
  return value.is_number() ? fmt::format("{:.4f}", value.get<double>()) : "undefined";
}

}  // namespace headrace::cli
