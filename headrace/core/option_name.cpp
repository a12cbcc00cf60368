#include "headrace/core/option_name.hpp"

#include <algorithm>
#include <atomic>

namespace headrace {
namespace {
std::atomic<OptionStyle> style_of_process{OptionStyle::field};
}  // namespace

void name_options_as(OptionStyle style) noexcept { style_of_process = style; }

std::string to_string(const Option& option) {
  std::string name(option.name);
  if (style_of_process == OptionStyle::field) return name;
  std::replace(name.begin(), name.end(), '_', '-');
  return name.insert(0, 2, '-');
}

}  // namespace headrace
