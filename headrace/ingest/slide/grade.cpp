#include "headrace/ingest/slide/grade.hpp"

#include <cctype>

#include "headrace/core/error.hpp"

namespace headrace::ingest {

std::optional<Grade> parse_gleason(const std::string& text, const std::string& where) {
  std::string plain;
  for (const unsigned char c : text) {
    if (std::isspace(c) == 0) plain += static_cast<char>(std::tolower(c));
  }
  if (plain.empty()) return std::nullopt;
  if (plain == "negative" || plain == "benign" || plain == "0+0") return Grade{};
  const bool sum = plain.size() == 3 && plain[1] == '+' && plain[0] >= '3' && plain[0] <= '5' &&
                   plain[2] >= '3' && plain[2] <= '5';
  if (!sum) {
    fail(
        ErrorCode::malformed,
        "{}: '{}' is not a Gleason score; expected one as 3+4 with patterns 3 to 5, 0+0 or negative",
        where, text);
  }
  return Grade{plain[0] - '0', plain[2] - '0'};
}

int grade_group(Grade grade) {
  const int sum = grade.primary + grade.secondary;
  if (sum == 0) return 0;
  if (sum == 6) return 1;
  if (sum == 7) return grade.primary == 3 ? 2 : 3;
  return sum == 8 ? 4 : 5;
}

}  // namespace headrace::ingest
