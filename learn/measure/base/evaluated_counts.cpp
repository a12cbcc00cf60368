#include "learn/measure/base/evaluated_counts.hpp"

#include <algorithm>

namespace headrace::measure {
namespace {

std::optional<std::string> text_or_none(const Json& image, const char* key) {
  const Json value = image.value(key, Json());
  return value.is_null() ? std::nullopt : std::optional(value.get<std::string>());
}

}  // namespace

std::vector<bool> untold_classes(const Json& evaluation) {
  const auto classes = evaluation.at("classes").get<std::vector<std::string>>();
  std::vector<bool> out(classes.size(), false);
  for (const Json& name : evaluation.value("missing_classes", Json::array())) {
    const auto found = std::find(classes.begin(), classes.end(), name.get<std::string>());
    if (found != classes.end()) out[static_cast<std::size_t>(found - classes.begin())] = true;
  }
  return out;
}

Confusion confusion_of(const Json& image, std::size_t classes, const std::vector<bool>& untold) {
  Confusion out(classes, untold);
  for (std::size_t t = 0; t < classes; ++t) {
    for (std::size_t p = 0; p < classes; ++p)
      out.add(t, p, image.at("matrix").at(t).at(p).get<std::uint64_t>());
  }
  return out;
}

void put_image_facts(const Json& image, ImageFacts& to) {
  to.id = image.at("id");
  to.case_id = image.at("case");
  to.cohort = text_or_none(image, "cohort");
  to.scanner = text_or_none(image, "scanner");
}

void check_matrix(const Json& image, const std::string& origin) {
  if (image.contains("matrix")) return;
  fail(ErrorCode::unsupported,
       "{}: an earlier version made it, which kept no matrix of each image. Evaluate again "
       "(headrace eval)",
       origin);
}

}  // namespace headrace::measure
