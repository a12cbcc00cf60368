#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace headrace {

/// A to Z as a to z; everything else as it is, so that no locale decides.
std::string lowered(std::string_view text);

/// A name as it is compared with others: lowered, without spaces, '-' and '_'.
std::string folded_name(std::string_view name);

/// The parts between the places where `at` stands, empty ones as well; of "" one that is empty.
std::vector<std::string> split(std::string_view text, char at);

}  // namespace headrace
