#include "headrace/ingest/names/store_names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "headrace/ingest/names/case_rules.hpp"
#include "headrace/ingest/names/identifying_text.hpp"

namespace headrace::ingest {
namespace {

constexpr std::size_t kPatientDigits = 12, kSeriesDigits = 8;
constexpr std::size_t kIdSize = kPatientDigits + 1 + kSeriesDigits;

bool hex(const std::string& text, std::size_t begin, std::size_t end) {
  return std::all_of(text.begin() + static_cast<std::ptrdiff_t>(begin),
                     text.begin() + static_cast<std::ptrdiff_t>(end), [](unsigned char c) {
                       return std::isdigit(c) != 0 || (c >= 'a' && c <= 'f');
                     });
}

}  // namespace

std::string pseudonym_case(const std::string& patient) { return patient.substr(0, kPatientDigits); }

std::string pseudonym_id(const std::string& patient, const std::string& series_or_study) {
  return pseudonym_case(patient) + "-" + series_or_study.substr(0, kSeriesDigits);
}

bool is_pseudonym_id(const std::string& id) {
  if (id.size() < kIdSize || id[kPatientDigits] != '-' || !hex(id, 0, kPatientDigits) ||
      !hex(id, kPatientDigits + 1, kIdSize))
    return false;
  if (id.size() == kIdSize) return true;
  return id[kIdSize] == '-' && id.size() > kIdSize + 1 && id.size() <= kIdSize + 4 &&
         std::all_of(id.begin() + kIdSize + 1, id.end(),
                     [](unsigned char c) { return std::isdigit(c) != 0; });
}

std::optional<std::string> why_no_name(const std::string& text, bool with_spaces) {
  if (is_pseudonym_id(text) || (text.size() == kPatientDigits && hex(text, 0, kPatientDigits)))
    return std::nullopt;
  std::string letters = text;
  if (with_spaces) std::replace(letters.begin(), letters.end(), ' ', '_');
  if (text.empty() || plain_id(letters) != letters || text.size() > kLongestId) {
    return fmt::format("may hold letters, digits, '.', '_' and '-' only (1 to {}), no '.' in front",
                       kLongestId);
  }
  if (const auto why = why_identifying(text)) return "looks like " + *why;
  return std::nullopt;
}

}  // namespace headrace::ingest
