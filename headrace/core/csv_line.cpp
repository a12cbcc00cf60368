#include "headrace/core/csv_line.hpp"

#include <string_view>

namespace headrace {

namespace {

/// Excel and Calc compute what begins so, and it may fetch and send (OWASP, "CSV Injection").
bool is_formula(std::string_view text) {
  return text.size() > 1 && std::string_view("=+-@\t\r").find(text.front()) != text.npos;
}

}  // namespace

std::string plain_cell(std::string text) {
  if (text.starts_with('\'') && is_formula(std::string_view(text).substr(1))) text.erase(0, 1);
  return text;
}

std::string csv_cell(const Json& value) {
  if (value.is_null()) return {};
  if (!value.is_string()) return value.dump();
  std::string text = value.get<std::string>();
  if (is_formula(text)) text.insert(0, 1, '\'');
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + "\"";
}

std::string csv_line(const std::vector<Json>& cells) {
  std::string line;
  for (std::size_t i = 0; i < cells.size(); ++i) line += (i == 0 ? "" : ",") + csv_cell(cells[i]);
  return line + "\n";
}

}  // namespace headrace
