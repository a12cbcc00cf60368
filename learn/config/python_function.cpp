#include "learn/config/python_function.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace headrace::config::detail {
namespace {

bool is_name(std::string_view part) {
  return !part.empty() && !(part.front() >= '0' && part.front() <= '9') &&
         std::all_of(part.begin(), part.end(), [](char c) {
           return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
                  (c >= 'A' && c <= 'Z');
         });
}

bool is_place(std::string_view text) {
  const auto colon = text.find(':');
  if (colon == std::string_view::npos || !is_name(text.substr(colon + 1))) return false;
  std::string_view packages = text.substr(0, colon);
  while (true) {
    const auto dot = packages.find('.');
    if (!is_name(packages.substr(0, dot))) return false;
    if (dot == std::string_view::npos) return true;
    packages.remove_prefix(dot + 1);
  }
}

}  // namespace

Form module_form(std::string& module) {
  return {[&module](const YamlValue& value) {
            module = value.as_string();
            if (is_place(module)) return;
            value.reject(fmt::format(
                "expected package.module:function, as in my_nets.unet:build, found '{}'", module));
          },
          [&module] { return Json(module); },
          "package.module:function",
          {}};
}

Form arguments_form(Json& arguments) {
  return {[&arguments](const YamlValue& value) {
            if (!value.is_map())
              value.reject("expected a mapping of names and values, as the function takes them");
            arguments = value.as_json();
          },
          [&arguments] { return arguments; },
          "names and values",
          {}};
}

Fields python_function_fields(PythonFunction& function, const std::string& what) {
  return {
      Field{"module", module_form(function.module), fmt::format("{} of one's own, in Python", what),
            "none"}
          .written_if(function.given()),
      Field{"arguments", arguments_form(function.arguments), "what that function is called with",
            "none"}
          .unless([&function] {
            return function.given() ? std::string()
                                    : std::string("belongs to module, which is not there");
          }),
  };
}

}  // namespace headrace::config::detail
