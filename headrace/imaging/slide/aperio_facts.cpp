#include "headrace/imaging/slide/aperio_facts.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <string_view>

#include "headrace/core/error.hpp"
#include "headrace/imaging/pixel_size.hpp"
#include "headrace/imaging/tiff/aperio_description.hpp"
#include "headrace/imaging/tiff/tiff_pages.hpp"

namespace headrace::imaging {
namespace {

std::string_view stripped(std::string_view text) {
  constexpr std::string_view kSpace = " \t\n\v\f\r";
  const auto first = text.find_first_not_of(kSpace);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kSpace) - first + 1);
}

/// The value of a key among "…|key = value|…"; what stands before the first bar is no key.
std::optional<std::string_view> value_of(std::string_view text, std::string_view key) {
  std::optional<std::string_view> found;
  for (auto bar = text.find('|'); bar != std::string_view::npos;) {
    const auto next = text.find('|', bar + 1);
    const std::string_view part = text.substr(bar + 1, next - bar - 1);
    const auto equals = part.find('=');
    if (equals != std::string_view::npos && stripped(part.substr(0, equals)) == key)
      found = stripped(part.substr(equals + 1));
    bar = next;
  }
  return found;
}

std::optional<double> number_of(std::string_view text, std::string_view key) {
  const auto value = value_of(text, key);
  if (!value) return std::nullopt;
  std::string written(*value);
  std::replace(written.begin(), written.end(), ',', '.');
  const char* end = written.data() + written.size();
  double number = 0;
  const auto [rest, failed] = std::from_chars(written.data(), end, number);
  const bool whole = failed == std::errc() && rest == end;
  return whole && std::isfinite(number) && number > 0 ? std::optional(number) : std::nullopt;
}

}  // namespace

void take_aperio_facts(SlideInfo& info, const std::string& description) {
  info.objective_power = number_of(description, "AppMag");
  const auto mpp = number_of(description, "MPP");
  if (!mpp) return;
  const PixelSize size = stated_pixel_size(*mpp, *mpp);
  info.mpp_y = size.mpp_y;
  info.mpp_x = size.mpp_x;
  info.notes.insert(info.notes.end(), size.notes.begin(), size.notes.end());
}

void check_aperio_facts(SlideInfo& info, const std::string& description, const std::string& name) {
  if (names_side_picture(description)) {
    fail(ErrorCode::unsupported,
         "{}: its first picture is named label, macro or thumbnail, so it is not the slide", name);
  }
  const auto other = other_size_in_aperio(description, info.levels[0].height, info.levels[0].width);
  if (!other) return;
  info.mpp_x = info.mpp_y = info.objective_power = std::nullopt;
  info.notes.push_back(
      make_note(NoteCode::pixel_size_of_other,
                {static_cast<double>(other->first), static_cast<double>(other->second)}));
}

}  // namespace headrace::imaging
