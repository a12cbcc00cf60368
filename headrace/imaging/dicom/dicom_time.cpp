#include "headrace/imaging/dicom/dicom_time.hpp"

#include <algorithm>

namespace headrace::imaging {
namespace {

bool all_digits(const std::string& text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

std::string without(std::string text, char what) {
  std::erase(text, what);
  return text;
}

/// Two digits; those that are not there are 0.
int two(const std::string& digits, std::size_t at) {
  return at < digits.size() ? 10 * (digits[at] - '0') + digits[at + 1] - '0' : 0;
}

/// source  Howard Hinnant, chrono-compatible low-level date algorithms, days_from_civil
std::optional<double> days_of(const std::string& text) {
  const std::string date = without(text, '.');
  if (date.size() != 8 || !all_digits(date)) return std::nullopt;
  const int month = two(date, 4), day = two(date, 6);
  if (month < 1 || month > 12 || day < 1 || day > 31) return std::nullopt;
  const int year = 100 * two(date, 0) + two(date, 2) - (month <= 2 ? 1 : 0);
  const int era = year / 400, of_era = year - era * 400;
  const int of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
  return era * 146097.0 + (of_era * 365 + of_era / 4 - of_era / 100 + of_year) - 719468;
}

std::optional<double> seconds_of(const std::string& text) {
  const std::string time = without(text, ':');
  const std::size_t point = std::min(time.find('.'), time.size());
  const std::string whole = time.substr(0, point);
  const std::string part = point < time.size() ? time.substr(point + 1) : "";
  const bool sized = whole.size() == 2 || whole.size() == 4 || whole.size() == 6;
  if (!sized || !all_digits(whole) || !all_digits(part)) return std::nullopt;
  const int hour = two(whole, 0), minute = two(whole, 2), second = two(whole, 4);
  if (hour > 23 || minute > 59 || second > 60) return std::nullopt;  // 60: a leap second
  double seconds = 3600.0 * hour + 60.0 * minute + second, place = 0.1;
  for (const char digit : part) {
    seconds += place * (digit - '0');
    place /= 10;
  }
  return seconds;
}

}  // namespace

Moment moment_of(const std::string& date, const std::string& time) {
  return {days_of(date), seconds_of(time), std::nullopt};
}

Moment moment_of(const std::string& date_time) {
  const std::size_t offset = std::min(date_time.find_first_of("+-"), date_time.size());
  if (offset < 10) return {};
  Moment moment = moment_of(date_time.substr(0, 8), date_time.substr(8, offset - 8));
  moment.ahead_of_utc = utc_offset_of(date_time.substr(offset));
  return moment;
}

std::optional<double> utc_offset_of(const std::string& text) {
  if (text.size() != 5 || (text[0] != '+' && text[0] != '-') || !all_digits(text.substr(1)))
    return std::nullopt;
  const double seconds = 3600.0 * two(text, 1) + 60.0 * two(text, 3);
  return text[0] == '-' ? -seconds : seconds;
}

}  // namespace headrace::imaging
