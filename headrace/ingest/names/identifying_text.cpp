#include "headrace/ingest/names/identifying_text.hpp"

#include <vector>

namespace headrace::ingest {
namespace {

bool digit(char c) { return c >= '0' && c <= '9'; }

/// A run of digits, and the single character after it when digits follow that; else 0.
struct Run {
  std::string_view digits;
  char then = 0;
};

std::vector<Run> runs_of(std::string_view text) {
  std::vector<Run> runs;
  for (std::size_t i = 0; i < text.size();) {
    if (!digit(text[i])) {
      ++i;
      continue;
    }
    std::size_t end = i;
    while (end < text.size() && digit(text[end])) ++end;
    Run run{text.substr(i, end - i), 0};
    if (end + 1 < text.size() && digit(text[end + 1])) run.then = text[end];
    runs.push_back(run);
    i = end;
  }
  return runs;
}

int number(std::string_view digits) {
  int value = 0;
  for (const char c : digits.substr(0, 9)) value = 10 * value + (c - '0');
  return value;
}

bool year(int y) { return y >= 1900 && y <= 2099; }
bool day_and_month(int a, int b) {
  return a >= 1 && b >= 1 && ((a <= 31 && b <= 12) || (a <= 12 && b <= 31));
}

/// YYYYMMDD, or YYYYMMDDhhmm(ss).
bool compact_date(const Run& run) {
  const std::string_view d = run.digits;
  if (d.size() != 8 && d.size() != 12 && d.size() != 14) return false;
  const int month = number(d.substr(4, 2)), day = number(d.substr(6, 2));
  return year(number(d.substr(0, 4))) && month >= 1 && month <= 12 && day >= 1 && day <= 31 &&
         (d.size() == 8 || number(d.substr(8, 2)) < 24);
}

bool separator(char c) { return c == '-' || c == '/' || c == '.' || c == '_' || c == ' '; }

bool parted_date(const Run& a, const Run& b, const Run& c) {
  if (!separator(a.then) || a.then != b.then) return false;
  const auto short_number = [](const Run& run) { return run.digits.size() <= 2; };
  if (a.digits.size() == 4 && short_number(b) && short_number(c))
    return year(number(a.digits)) && day_and_month(number(c.digits), number(b.digits));
  if (c.digits.size() == 4 && short_number(a) && short_number(b))
    return year(number(c.digits)) && day_and_month(number(a.digits), number(b.digits));
  return false;
}

}  // namespace

std::optional<std::string> why_identifying(std::string_view text) {
  if (text.find('^') != std::string_view::npos) return "a person's name";
  const auto runs = runs_of(text);
  std::size_t dotted = 1;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (compact_date(runs[i])) return "a date";
    if (i + 2 < runs.size() && parted_date(runs[i], runs[i + 1], runs[i + 2])) return "a date";
    dotted = runs[i].then == '.' ? dotted + 1 : 1;
    if (dotted >= 4) return "a DICOM UID";
  }
  return std::nullopt;
}

}  // namespace headrace::ingest
