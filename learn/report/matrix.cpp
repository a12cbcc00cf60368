#include "learn/report/matrix.hpp"

#include <fmt/format.h>

#include "learn/report/eval_json.hpp"
#include "learn/report/html.hpp"

namespace headrace::report {

std::string matrix_html(const Json& matrix, const std::vector<std::string>& names, bool percent) {
  Table table;
  table.head.push_back("true \\ predicted");
  table.head.insert(table.head.end(), names.begin(), names.end());
  for (std::size_t t = 0; t < names.size(); ++t) {
    const std::uint64_t sum = row_sum(matrix[t]);
    std::vector<std::string> row{names[t]};
    for (std::size_t p = 0; p < names.size(); ++p) {
      const auto count = matrix[t][p].get<std::uint64_t>();
      const double share = sum > 0 ? static_cast<double>(count) / static_cast<double>(sum) : 0;
      const std::string shown = percent
                                    ? (sum > 0 ? fmt::format("{:.1f}&#8239;%", share * 100) : "–")
                                    : (count > 0 ? std::to_string(count) : "·");
      row.push_back(fmt::format(
          "<div class=\"cell\" title=\"{}\" style=\"background:rgba({},{:.3f});color:{}\">{}</div>",
          count, t == p ? "22,150,110" : "200,80,60", 0.05 + 0.8 * share,
          share > 0.55 ? "#fff" : "inherit", shown));
    }
    table.rows.push_back(std::move(row));
  }
  return table.html("matrix");
}

}  // namespace headrace::report
