#pragma once
#include <optional>
#include <string>
#include <utility>

namespace headrace::predict {

/// A value, or for the reader of a result why there is none.
template <typename T>
struct OrReason {
  std::optional<T> value;
  std::string reason;  ///< one sentence; empty where there is a value

  static OrReason of(T value) { return {std::move(value), {}}; }
  static OrReason none(std::string reason) { return {std::nullopt, std::move(reason)}; }
};

}  // namespace headrace::predict
