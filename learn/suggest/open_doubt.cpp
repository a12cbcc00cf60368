#include "learn/suggest/open_doubt.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "headrace/core/error.hpp"
#include "headrace/core/json_fault.hpp"
#include "learn/result/result_format.hpp"

namespace headrace::suggest {
namespace {

/// From which nearness to the operating point on a lesion is named.
constexpr double kNear = 0.5;
constexpr double kNoOperatingPoint = 0.5;

std::string grade_sentence(const Json& region, const Json& grade) {
  return fmt::format("its grade group would change from {} to {} with region {} ({} or {})",
                     grade.at("grade_group").get<int>(), region.at("second_grade_group").get<int>(),
                     region.at("number").get<std::uint64_t>(),
                     region.at("class").get_ref<const std::string&>(),
                     region.at("second_class").get_ref<const std::string&>());
}

std::string share_sentence(const Json& region, std::uint64_t count) {
  const std::string which = fmt::format("{} ({} or {})", region.at("number").get<std::uint64_t>(),
                                        region.at("class").get_ref<const std::string&>(),
                                        region.at("second_class").get_ref<const std::string&>());
  if (count == 1) return fmt::format("region {} is equivocal", which);
  return fmt::format("{} regions are equivocal, first of all {}", count, which);
}

/// Pixels of the classes that equivocal regions are of.
double whole_px(const Json& slide) {
  const char* const region = slide.at("tumour").is_null() ? "foreground" : "tumour";
  return slide.at(region).at("pixels").get<double>();
}

/// The list begins with regions that change the grade group, each part by falling doubt · area.
OpenDoubt slide_doubt(const Json& slide) {
  OpenDoubt out;
  const Json& list = slide.at("equivocal").at("list");
  const auto tumour_px = whole_px(slide);
  if (list.empty() || tumour_px == 0) return out;
  double area = 0, changing = 0;
  const Json* changes = nullptr;
  for (const Json& region : list) {
    const double doubt = region.at("doubt").get<double>();
    area += doubt * region.at("pixels").get<double>();
    if (out.places.size() < kMostPlaces) out.places.push_back(region.at("number"));
    const Json& change = region.at("changes_grade_group");
    if (change.is_null() || !change.get<bool>() || doubt <= changing) continue;
    changing = doubt;
    changes = &region;
  }
  out.value = std::min(1.0, std::max(changing, area / tumour_px));
  out.why = changes != nullptr ? grade_sentence(*changes, slide.at("grade"))
                               : share_sentence(list.front(), slide.at("equivocal").at("count"));
  return out;
}

double threshold_of(const Json& volume) {
  const Json* threshold = find_at(volume, {"study", "flag", "operating_point", "threshold"});
  return threshold != nullptr ? threshold->get<double>() : kNoOperatingPoint;
}

OpenDoubt volume_doubt(const Json& volume) {
  OpenDoubt out;
  const Json& lesions = volume.at("lesions");
  if (lesions.is_null() || lesions.empty()) return out;
  const double threshold = threshold_of(volume), reach = std::max(threshold, 1 - threshold);
  std::vector<std::pair<double, std::uint64_t>> near;  // minus nearness, number
  for (std::size_t k = 0; k < lesions.size(); ++k) {
    const double score = lesions[k].at("score").get<double>();
    near.emplace_back(std::abs(score - threshold) / reach - 1, k + 1);
  }
  std::sort(near.begin(), near.end());
  out.value = std::max(0.0, -near.front().first);
  for (const auto& [minus, number] : near)
    if (-minus >= kNear && out.places.size() < kMostPlaces) out.places.push_back(number);
  if (out.places.empty()) return out;
  out.why = fmt::format("lesion {} (score {:.2f}) lies near {} {:.2f}", out.places.front(),
                        lesions[out.places.front() - 1].at("score").get<double>(),
                        find_at(volume, {"study", "flag", "operating_point"}) != nullptr
                            ? "the operating point"
                            : "the middle of the scale, there being no operating point,",
                        threshold);
  return out;
}

/// What reads findings fails in the same words.
template <typename Read>
auto read_findings(const result::ImageResult& image, const Read& read) {
  try {
    return read(image.findings());
  } catch (const Json::exception& error) {
    fail(ErrorCode::malformed, "{}: not the findings of a prediction ({}); predict again",
         (image.folder() / result::kFindingsFile).string(), json_fault(error));
  }
}

}  // namespace

OpenDoubt open_doubt(const result::ImageResult& image) {
  return read_findings(image, [&](const Json& findings) {
    return image.facts().volume ? volume_doubt(findings.at("volume"))
                                : slide_doubt(findings.at("slide"));
  });
}

std::optional<double> disputed_share(const result::ImageResult& image) {
  return read_findings(image, [](const Json& findings) -> std::optional<double> {
    const Json* share = find_at(findings, {"ensemble", "disputed_share"});
    if (share == nullptr || share->is_null()) return std::nullopt;
    return share->get<double>();
  });
}

std::vector<std::string> warnings_of(const result::ImageResult& image) {
  return read_findings(image, [](const Json& findings) {
    std::vector<std::string> codes;
    for (const Json& remark : findings.at("quality"))
      if (remark.at("severity") == "warning") codes.push_back(remark.at("code"));
    return codes;
  });
}

}  // namespace headrace::suggest
