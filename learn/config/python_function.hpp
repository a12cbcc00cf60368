#pragma once
#include <string>

#include "headrace/core/fields.hpp"
#include "headrace/core/json.hpp"

namespace headrace::config {

/// A function in Python that makes a part of a training: a network, a loss, an optimiser.
struct PythonFunction {
  std::string module;               ///< "package.module:function"; empty: none, the built-in part
  Json arguments = Json::object();  ///< by name, for the call

  bool given() const noexcept { return !module.empty(); }
};

namespace detail {

/// Reads "package.module:function", each part a Python name.
Form module_form(std::string& module);
/// Reads a mapping of names and values.
Form arguments_form(Json& arguments);
/// The keys `module` and `arguments`. `what`: a network, a loss, an optimiser.
Fields python_function_fields(PythonFunction& function, const std::string& what);

}  // namespace detail
}  // namespace headrace::config
