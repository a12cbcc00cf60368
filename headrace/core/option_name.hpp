#pragma once
#include <fmt/format.h>

#include <string>
#include <string_view>

namespace headrace {

/// An option of the caller's, to be named in a sentence: `fail(…, "{} {}: …", Option{"on_error"},
/// value)`. What a caller knows it by differs: a program has a field of a struct, who types a
/// command has a flag. Prints as the style says (name_options_as); `{}` is its only format.
struct Option {
  std::string_view name;  ///< the field's name: "on_error"
};

enum class OptionStyle {
  field,        ///< on_error
  command_line  ///< --on-error
};

/// How the whole process names options from here on; field until then. Safe from any thread; a
/// program with a command line calls it first.
void name_options_as(OptionStyle style) noexcept;

/// The option's name in the style of the process.
std::string to_string(const Option& option);

}  // namespace headrace

template <>
struct fmt::formatter<headrace::Option> : fmt::formatter<std::string_view> {
  template <typename Context>
  auto format(const headrace::Option& option, Context& context) const {
    return fmt::formatter<std::string_view>::format(headrace::to_string(option), context);
  }
};
