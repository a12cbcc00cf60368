#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace headrace::report {

std::string base64(std::span<const std::byte> bytes);

/// A table: cells are HTML already; columns named in `numeric` are right-aligned with tabular
/// figures.
struct Table {
  std::vector<std::string> head;
  std::vector<std::vector<std::string>> rows;
  std::vector<bool> numeric;
  std::string html(const std::string& css_class = "") const;
};

/// "1 234 567" with thin spaces.
std::string grouped(unsigned long long value);

}  // namespace headrace::report
