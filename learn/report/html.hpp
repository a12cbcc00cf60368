#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace headrace::report {

/// A table: cells are HTML already; columns named in `numeric` are right-aligned with tabular
/// figures.
struct Table {
  std::vector<std::string> head;
  std::vector<std::vector<std::string>> rows;
  std::vector<bool> numeric;
  std::string html(const std::string& css_class = "") const;
};

/// A heading and what belongs to it. `body` is HTML; empty: empty text.
std::string section(const std::string& title, const std::string& body);
/// A part that is closed until it is asked for; `title` is HTML.
std::string folded(const std::string& title, const std::string& body);
/// A figure with its name below; `beside` is a smaller third line, HTML, and may be empty.
std::string tile(const std::string& value, const std::string& name, const std::string& beside = "");

/// A whole page, one file: no script, and a policy that lets nothing be loaded from outside.
std::string page(const std::string& title, const std::string& body, const std::string& version);

/// "1 234 567" with thin spaces.
std::string grouped(unsigned long long value);

}  // namespace headrace::report
