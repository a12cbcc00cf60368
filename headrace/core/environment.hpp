#pragma once
#include <cstdlib>
#include <string>

namespace headrace {

/// A variable of the environment; empty where it is not set. Not while another thread sets one.
inline std::string environment_variable(const char* name) {
  const char* text = std::getenv(name);
  return text == nullptr ? "" : text;
}

}  // namespace headrace
