#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "headrace/core/enum_names.hpp"
#include "headrace/core/error.hpp"

namespace headrace {

/// "is none of stop, skip (did you mean 'skip'?)": how a sentence about a word ends that is not
/// `accepted`.
std::string none_of(std::string_view word, const std::vector<std::string>& accepted);

/// The value of an option that was given as a word. option: its name as the user knows it (Option).
/// Errors: usage, with all names and the nearest.
template <NamedEnum Enum>
Enum choice_of(const std::string& option, std::string_view word) {
  if (const auto value = value_named<Enum>(word)) return *value;
  fail(ErrorCode::usage, "{} {}: {}", option, word, none_of(word, names_of<Enum>()));
}

/// The value of a word that a file states: in a table's column, under a store's key. Errors: `code`,
/// with all names and the nearest.
template <NamedEnum Enum>
Enum stated_choice(ErrorCode code, const std::string& where, std::string_view field,
                   std::string_view word) {
  if (const auto value = value_named<Enum>(word)) return *value;
  fail(code, "{}: {} '{}' {}", where, field, word, none_of(word, names_of<Enum>()));
}

}  // namespace headrace
