#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace headrace {

// Every text from outside is checked where it is read, so that what is compared, stored and printed
// is UTF-8 (RFC 3629).

/// Byte of the first place that is not UTF-8; nothing where all of it is.
std::optional<std::size_t> first_not_utf8(std::string_view text);

/// The text with each byte that is not UTF-8 as \xHH, and each character that steers how others are
/// shown (first_control; not line ends and tabs) as \uHHHH, which JSON reads: for what is shown, never
/// for what is compared.
std::string shown_text(std::string_view text);

/// Byte of the first character that no name has and a terminal or a page may obey: the control
/// characters (U+0000–001F, 007F–009F; line ends and tabs too) and what turns the direction of text
/// around (U+202A–202E, 2066–2069). Nothing where there is none.
std::optional<std::size_t> first_control(std::string_view text);

/// "holds the control character U+001B"; nothing for a text without any.
std::optional<std::string> why_no_plain_text(std::string_view text);

/// The bytes of a text file as UTF-8, without its byte order mark: UTF-8, or UTF-16 of either byte
/// order. Other encodings are not told apart by their bytes and never guessed. `origin` names the
/// file. Errors: malformed, with line and bytes.
std::string text_of_bytes(std::string bytes, std::string_view origin);

}  // namespace headrace
