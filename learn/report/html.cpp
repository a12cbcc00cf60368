#include "learn/report/html.hpp"

#include <fmt/format.h>

#include "headrace/core/text.hpp"
#include "learn/report/style_sheet.hpp"

namespace headrace::report {

std::string section(const std::string& title, const std::string& body) {
  if (body.empty()) return "";
  return fmt::format("<section><h2>{}</h2>{}</section>\n", title, body);
}

std::string folded(const std::string& title, const std::string& body) {
  return fmt::format("<details><summary>{}</summary>{}</details>\n", title, body);
}

std::string tile(const std::string& value, const std::string& name, const std::string& beside) {
  return fmt::format("<div class=\"tile\"><b>{}</b><span>{}</span>{}</div>", value, name,
                     beside.empty() ? "" : "<small>" + beside + "</small>");
}

std::string page(const std::string& title, const std::string& body, const std::string& version) {
  // Even where text of a run were taken for markup, nothing could run, load or be sent.
  constexpr const char* kPolicy =
      "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action "
      "'none'";
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta "
      "http-equiv=\"Content-Security-Policy\" content=\"{}\"><meta name=\"viewport\" "
      "content=\"width=device-width,initial-scale=1\"><meta name=\"color-scheme\" "
      "content=\"light dark\"><title>{}</title><style>{}</style></head>\n"
      "<body><main>\n{}<footer>Headrace {}</footer></main></body></html>\n",
      kPolicy, escaped_markup(title), kStyleSheet, body, escaped_markup(version));
}

std::string Table::html(const std::string& css_class) const {
  const auto align = [&](std::size_t column) {
    return column < numeric.size() && numeric[column] ? " class=\"n\"" : "";
  };
  std::string out = fmt::format("<div class=\"scroll\"><table class=\"{}\"><thead><tr>", css_class);
  for (std::size_t c = 0; c < head.size(); ++c)
    out += fmt::format("<th{}>{}</th>", align(c), head[c]);
  out += "</tr></thead><tbody>";
  for (const auto& row : rows) {
    out += "<tr>";
    for (std::size_t c = 0; c < row.size(); ++c)
      out += fmt::format("<td{}>{}</td>", align(c), row[c]);
    out += "</tr>\n";
  }
  return out + "</tbody></table></div>\n";
}

std::string grouped(unsigned long long value) {
  std::string digits = std::to_string(value), out;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % 3 == 0) out += "&#8239;";
    out += digits[i];
  }
  return out;
}

}  // namespace headrace::report
