#pragma once
#include <fstream>
#include <string>
#include <vector>

namespace headrace::fixtures {

/// A Markdown table: cells by row, without its head.
using Table = std::vector<std::vector<std::string>>;

/// The tables of docs/runbook.md between a heading and the next one.
inline std::vector<Table> runbook_tables(const std::string& heading) {
  std::ifstream file(HR_SOURCE_DIR "/docs/runbook.md");
  std::vector<Table> tables;
  std::string line;
  while (std::getline(file, line) && line != heading) {
  }
  bool in_table = false;
  while (std::getline(file, line) && line.rfind('#', 0) != 0) {
    const bool row = line.rfind("| ", 0) == 0;
    if (row && !in_table) tables.emplace_back();
    if (row && in_table) {
      std::vector<std::string>& cells = tables.back().emplace_back();
      for (std::size_t at = 1, end; (end = line.find('|', at)) != std::string::npos; at = end + 1) {
        const std::size_t first = line.find_first_not_of(' ', at);
        const std::size_t last = line.find_last_not_of(' ', end - 1);
        cells.push_back(first < end ? line.substr(first, last + 1 - first) : "");
      }
    }
    in_table = line.rfind('|', 0) == 0;
  }
  return tables;
}

/// The names between backticks.
inline std::vector<std::string> quoted(const std::string& cell) {
  std::vector<std::string> names;
  for (std::size_t at = cell.find('`'), end; at != std::string::npos;
       at = cell.find('`', end + 1)) {
    end = cell.find('`', at + 1);
    if (end == std::string::npos) break;
    names.push_back(cell.substr(at + 1, end - at - 1));
  }
  return names;
}

}  // namespace headrace::fixtures
