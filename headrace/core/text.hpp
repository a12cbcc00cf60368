#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace headrace {

/// A to Z as a to z; everything else as it is, so that no locale decides.
std::string lowered(std::string_view text);

/// A name in the form in which names are compared: lowered, without spaces, '-' and '_'.
std::string folded_name(std::string_view name);

/// Without blanks, tabs and line breaks at its ends.
std::string_view trimmed(std::string_view text);

/// & < > " as the entities of HTML and XML.
std::string escaped_markup(std::string_view text);

/// The parts of a text between the occurrences of `at`, including empty parts; "" gives one empty
/// part.
std::vector<std::string> split(std::string_view text, char at);

}  // namespace headrace
