#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "headrace/core/json.hpp"
#include "learn/measure/figure_table.hpp"

/// Pieces of eval.json for the sections of a report: HTML, except names_of and row_sum.
namespace headrace::report {

constexpr std::size_t kImagesShown = 200;  ///< of an evaluation; the CSV beside it has all

std::string text_of(const Json& value);  ///< escaped
/// A list of names: unchanged, and escaped with ", " between them.
std::vector<std::string> names_of(const Json& names);
std::string joined_names(const Json& names);

/// Of a row of a confusion matrix.
std::uint64_t row_sum(const Json& row);

/// The value at a path. Throws a JSON exception where there is none.
const Json& value_in(const Json& group, const JsonPath& path);
/// "0.873", or a dash for null.
std::string figure(const Json& value, int digits = 3);
/// "0.616–0.838"; empty where the group has no interval of this figure.
std::string interval_of(const Json& group, const JsonPath& path, int digits = 3);
/// A figure of a group and, where there is one, its interval. Errors: malformed (no such figure).
std::string with_interval(const Json& group, const JsonPath& path, int digits = 3);
/// Explains the small figures; empty where the group has no intervals.
std::string interval_text(const Json& group);
/// A coloured square and the name.
std::string class_label(const std::string& name, std::size_t index);

/// What `tumour` of an evaluation is called: "Tumour", or "Foreground" where neither task nor
/// eval.tumour_classes says what a tumour is, so that every class above 0 is meant.
std::string region_word(const Json& eval);
/// Of what images it is: slides or volumes, never both.
measure::JudgedKind kind_of(const Json& eval);

}  // namespace headrace::report
