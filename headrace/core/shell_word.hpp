#pragma once
#include <string>

namespace headrace {

/// A word of a command line that a user is to type: in single quotes where a shell would split or
/// expand it, or take it for an option.
std::string shell_word(const std::string& word);

}  // namespace headrace
