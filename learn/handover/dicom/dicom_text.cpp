#include "learn/handover/dicom/dicom_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace headrace::handover {

std::string decimal_text(double number) {
  std::string text = fmt::format("{:.6f}", number);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text == "-0" ? "0" : text;
}

std::string value_text(std::string_view text, std::size_t most, bool utf8) {
  std::string out;
  std::size_t characters = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const bool continues = (byte & 0xc0) == 0x80;  // within a character of UTF-8
    if (!continues && ++characters > most) break;
    if (byte < 0x80) {
      out += byte < 0x20 || byte == 0x7f || byte == '\\' ? ' ' : text[i];
    } else if (utf8) {
      out += text[i];
    } else if (!continues) {
      out += '?';
    }
  }
  return out;
}

namespace {

/// A day of the calendar, and the time since its beginning.
std::pair<std::chrono::year_month_day, std::chrono::hh_mm_ss<std::chrono::seconds>> parts_of(
    std::chrono::sys_seconds time) {
  const auto day = std::chrono::floor<std::chrono::days>(time);
  return {day, std::chrono::hh_mm_ss<std::chrono::seconds>(time - day)};
}

double linear(std::uint8_t value) {
  const double v = value / 255.0;
  return v <= 0.04045 ? v / 12.92 : std::pow((v + 0.055) / 1.055, 2.4);
}

double lab_curve(double t) {
  constexpr double kEpsilon = 216.0 / 24389, kKappa = 24389.0 / 27;
  return t > kEpsilon ? std::cbrt(t) : (kKappa * t + 16) / 116;
}

std::uint16_t scaled(double value, double low, double high) {
  const double part = std::clamp((value - low) / (high - low), 0.0, 1.0);
  return static_cast<std::uint16_t>(std::lround(part * 65535));
}

}  // namespace

std::string date_text(std::chrono::sys_seconds time) {
  const auto date = parts_of(time).first;
  return fmt::format("{:04}{:02}{:02}", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()));
}

std::string time_text(std::chrono::sys_seconds time) {
  const auto clock = parts_of(time).second;
  return fmt::format("{:02}{:02}{:02}", clock.hours().count(), clock.minutes().count(),
                     clock.seconds().count());
}

std::array<std::uint16_t, 3> cielab_of(const std::array<std::uint8_t, 3>& rgb) {
  const double r = linear(rgb[0]), g = linear(rgb[1]), b = linear(rgb[2]);
  // sRGB to XYZ, adapted from D65 to D50, and divided by the white point of D50.
  const double x = lab_curve((0.4360747 * r + 0.3850649 * g + 0.1430804 * b) / 0.96422);
  const double y = lab_curve(0.2225045 * r + 0.7168786 * g + 0.0606169 * b);
  const double z = lab_curve((0.0139322 * r + 0.0971045 * g + 0.7141733 * b) / 0.82521);
  return {scaled(116 * y - 16, 0, 100), scaled(500 * (x - y), -128, 127),
          scaled(200 * (y - z), -128, 127)};
}

}  // namespace headrace::handover
