#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>

#include "headrace/core/csv_line.hpp"
#include "learn/suggest/suggest.hpp"

namespace headrace::suggest {
namespace {

/// Four decimals, as in findings.
Json rounded(double value) {
  const std::string text = fmt::format("{:.4f}", value);
  double out = 0;
  std::from_chars(text.data(), text.data() + text.size(), out);
  return out;
}
Json rounded(const std::optional<double>& value) { return value ? rounded(*value) : Json(nullptr); }

Json line_json(const Suggestion& line) {
  return {{"rank", line.rank},
          {"id", line.id},
          {"case", line.case_id},
          {"scanner", line.scanner},
          {"source", line.source},
          {"uncertainty", rounded(line.uncertainty.total())},
          {"entropy", rounded(line.uncertainty.entropy)},
          {"disputed_share", rounded(line.uncertainty.disputed_share)},
          {"open_doubt", rounded(line.uncertainty.open)},
          {"distance", rounded(line.distance)},
          {"nearest", or_null(line.nearest)},
          {"why", line.why},
          {"look_first", line.look_first},
          {"places", line.places},
          {"warnings", line.warnings}};
}

}  // namespace

std::string Worklist::csv() const {
  std::string out =
      "rank,id,case,scanner,source,uncertainty,distance,why,look_first,entropy,disputed_share,"
      "open_doubt,nearest,warnings\n";
  for (const Suggestion& line : suggestions) {
    const Json json = line_json(line);
    std::vector<Json> cells;
    for (const char* key :
         {"rank", "id", "case", "scanner", "source", "uncertainty", "distance", "why", "look_first",
          "entropy", "disputed_share", "open_doubt", "nearest"})
      cells.push_back(json.at(key));
    cells.push_back(fmt::format("{}", fmt::join(line.warnings, " ")));
    out += csv_line(cells);
  }
  return out;
}

Json Worklist::to_json() const {
  Json lines = Json::array();
  for (const Suggestion& line : suggestions) lines.push_back(line_json(line));
  return {{"suggestions", lines},
          {"candidates", candidates},
          {"labelled", labelled},
          {"labelled_without_prediction", labelled_without_result},
          {"of_other_splits", of_other_splits},
          {"left_out",
           {{"not_predicted", not_predicted},
            {"not_in_store", not_in_store},
            {"nothing_predicted", empty}}}};
}

}  // namespace headrace::suggest
