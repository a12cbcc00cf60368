#pragma once
#include <cstddef>
#include <string_view>

#include "headrace/core/json.hpp"

namespace headrace {

/// How deep JSON may nest. The library parses any depth, but copies, compares and writes values by
/// calling itself, so that a text of half a megabyte would overflow the stack.
inline constexpr std::size_t kMostJsonDepth = 100;

/// Whether a text nests deeper; looks at brackets outside strings alone. Safe for any text.
bool nests_too_deep(std::string_view text) noexcept;

/// The value of a text that may be no JSON at all: discarded (is_discarded()) where it is none, or
/// nests too deep. Where it has to be JSON, parse_json says what is wrong.
Json json_or_discarded(std::string_view text);

}  // namespace headrace
