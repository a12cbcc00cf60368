#include "headrace/ingest/volume/volume_sources.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>

#include "headrace/core/error.hpp"
#include "headrace/core/option_name.hpp"

namespace headrace::ingest {

void check_sources(const VolumeSourceOptions& options) {
  const auto& rescale = options.rescale;
  if (!rescale.empty() && (rescale.size() != 2 || !std::isfinite(rescale[0]) ||
                           !std::isfinite(rescale[1]) || rescale[0] == 0)) {
    fail(ErrorCode::usage, "{}: must be SLOPE,INTERCEPT, of which the slope is not 0, as 1,-1024",
         Option{"rescale"});
  }
  constexpr std::array kWords{"", "first", "last", "all", "together"};
  const std::string& which = options.acquisition;
  const bool number =
      !which.empty() && which.size() < 8 &&
      std::all_of(which.begin(), which.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
  if (!number && std::find(kWords.begin(), kWords.end(), which) == kWords.end()) {
    fail(ErrorCode::usage, "{} {}: must be a number, first, last, all or together",
         Option{"acquisition"}, which.substr(0, 32));
  }
}

imaging::SeriesRules series_rules(const VolumeSourceOptions& options) {
  return {options.join_series, options.acquisition == "together"};
}

VolumeReading reading_of(const VolumeSourceOptions& options) {
  VolumeReading reading{options.irregular, std::nullopt};
  if (options.rescale.size() == 2)
    reading.rescale = imaging::Rescale{options.rescale[0], options.rescale[1]};
  return reading;
}

}  // namespace headrace::ingest
