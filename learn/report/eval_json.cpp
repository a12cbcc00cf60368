#include "learn/report/eval_json.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "headrace/core/error.hpp"
#include "headrace/core/text.hpp"
#include "headrace/pixels/palette.hpp"
#include "learn/report/html.hpp"

namespace headrace::report {

std::string text_of(const Json& value) { return escaped_markup(value.get<std::string>()); }

std::vector<std::string> names_of(const Json& names) {
  return names.get<std::vector<std::string>>();
}

std::string joined_names(const Json& names) {
  return escaped_markup(fmt::format("{}", fmt::join(names_of(names), ", ")));
}

std::uint64_t row_sum(const Json& row) {
  std::uint64_t sum = 0;
  for (const Json& count : row) sum += count.get<std::uint64_t>();
  return sum;
}

const Json& value_in(const Json& group, const JsonPath& path) {
  const Json* value = &group;
  for (const std::string& key : path) value = &value->at(key);
  return *value;
}

std::string figure(const Json& value, int digits) {
  return value.is_number() ? fmt::format("{:.{}f}", value.get<double>(), digits) : "–";
}

std::string interval_of(const Json& group, const JsonPath& path, int digits) {
  JsonPath interval_path{"interval_95"};
  interval_path.insert(interval_path.end(), path.begin(), path.end());
  const Json* interval = find_at(group, interval_path);
  if (interval == nullptr || !interval->is_array()) return "";
  const Json &low = (*interval)[0], &high = (*interval)[1];
  const bool negative = low.is_number() && low.get<double>() < 0;
  return fmt::format("{}{}{}", figure(low, digits), negative ? " to " : "–", figure(high, digits));
}

std::string with_interval(const Json& group, const JsonPath& path, int digits) {
  const Json* value = find_at(group, path);
  if (value == nullptr)
    fail(ErrorCode::malformed, "eval.json: a group has no {}", fmt::join(path, "."));
  const std::string interval = interval_of(group, path, digits);
  return "<b>" + figure(*value, digits) + "</b>" +
         (interval.empty() ? "" : " <small>" + interval + "</small>");
}

std::string interval_text(const Json& group) {
  if (group.contains("no_interval")) return " " + text_of(group.at("no_interval")) + ".";
  return group.contains("interval_95") ? " Small figures: 95 % intervals by resampling cases." : "";
}

std::string class_label(const std::string& name, std::size_t index) {
  return fmt::format("<span class=\"chip\" style=\"background:{}\"></span>{}",
                     pixels::css(pixels::class_colour(index)), escaped_markup(name));
}

std::string region_word(const Json& eval) {
  const Json* stated = find_at(eval, {"overall", "tumour", "stated"});
  return stated == nullptr || stated->get<bool>() ? "Tumour" : "Foreground";
}

measure::JudgedKind kind_of(const Json& eval) {
  return eval.contains("phases") ? measure::JudgedKind::volumes : measure::JudgedKind::slides;
}

}  // namespace headrace::report
