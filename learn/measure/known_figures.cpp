#include "learn/measure/known_figures.hpp"

#include "learn/measure/figure_names.hpp"
#include "learn/measure/slide/slide_group.hpp"

namespace headrace::measure {
namespace {

std::vector<std::string> names_in(const Json& group) {
  std::vector<std::string> out;
  for (NamedFigure& figure : figures_of_group(group)) out.push_back(std::move(figure.name));
  return out;
}

}  // namespace

std::vector<std::string> known_slide_figures(const SlideRules& rules) {
  return names_in(slide_group_json({}, rules, nullptr, 0, 0));
}

std::vector<std::string> known_volume_figures(const GroupRules& rules) {
  return names_in(group_json({}, rules));
}

}  // namespace headrace::measure
