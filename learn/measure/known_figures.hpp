#pragma once
#include <string>
#include <vector>

#include "learn/measure/slide/slide_counts.hpp"
#include "learn/measure/volume/group_figures.hpp"

namespace headrace::measure {

/// The names of all figures that a group of images has by these rules (figure_names.hpp), before
/// anything is evaluated: read off a group of no images.
std::vector<std::string> known_slide_figures(const SlideRules& rules);
std::vector<std::string> known_volume_figures(const GroupRules& rules);

}  // namespace headrace::measure
