#pragma once
#include <optional>
#include <string>

namespace headrace::ingest {

/// Gleason patterns of a case; 0 + 0 is a benign one.
struct Grade {
  int primary = 0, secondary = 0;
};

/// Reads "3+4", "negative", "0+0", "4 + 3"; nothing for an empty text. Errors: malformed, `where`
/// in front.
std::optional<Grade> parse_gleason(const std::string& text, const std::string& where);

/// ISUP grade group, 0 (benign) to 5: 3+3 is 1, 3+4 is 2, 4+3 is 3, a sum of 8 is 4, more is 5.
int grade_group(Grade grade);

}  // namespace headrace::ingest
