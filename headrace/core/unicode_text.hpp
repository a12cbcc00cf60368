#pragma once
#include <string>
#include <string_view>

namespace headrace {

/// The code points of a text that is UTF-8.
std::u32string code_points(std::string_view text);

/// Whether a reader sees nothing there: blanks, tabs, ends of lines, no-break and other spaces of
/// Unicode, and what has no width (zero-width space and joiners, marks of direction, byte order
/// mark).
bool is_blank(char32_t point);

/// The text (UTF-8) without blanks at its ends.
std::string without_outer_blanks(std::string_view text);

/// What a name has in common with others that people take for the same: without blanks, in the
/// decomposed form of Unicode (NFD; Latin, Greek and Cyrillic letters), in small letters, numbers
/// without leading zeros, and whole numbers without decimals of 0. Never for what is stored or
/// shown.
std::u32string loosely_written(std::string_view text);

}  // namespace headrace
