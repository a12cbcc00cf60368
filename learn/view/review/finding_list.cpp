#include "learn/view/review/finding_list.hpp"

#include <fmt/format.h>

#include <set>
#include <utility>

#include "headrace/core/error.hpp"
#include "headrace/core/json_fault.hpp"

namespace headrace::view {
namespace {

std::string text_or(const Json& value, const std::string& otherwise) {
  return value.is_string() ? value.get<std::string>() : otherwise;
}

/// Three digits, and never an exponent for what is large.
std::string rounded(double value) {
  return value >= 100 ? fmt::format("{:.0f}", value) : fmt::format("{:.3g}", value);
}

/// Of an entry of `regions` or `equivocal`.
Finding region_finding(const Json& region, FindingList list) {
  Finding finding;
  finding.list = list;
  finding.number = region.at("number").get<std::uint64_t>();
  finding.class_name = text_or(region.at("class"), "");
  const Json& area = region.at("area_mm2");
  const std::string size = area.is_number()
                               ? rounded(area.get<double>()) + " mm²"
                               : fmt::format("{} pixels", region.at("pixels").get<std::uint64_t>());
  finding.json = {{"number", finding.number},
                  {"list", std::string(name_of(list))},
                  {"title", fmt::format("{}, {}", finding.class_name, size)},
                  {"why", region.value("why", Json())},
                  {"score", region.value("doubt", Json())},
                  {"class", finding.class_name},
                  {"box", region.at("box_level0_yxyx")},
                  {"centre", region.at("centroid_level0_yx")}};
  return finding;
}

Finding lesion_finding(const Json& lesion, std::uint64_t number, const imaging::VolumeGrid& grid) {
  Finding finding;
  finding.list = FindingList::lesions;
  finding.number = number;
  finding.class_name = text_or(lesion.at("class"), "");
  const auto [x, y, z] = grid.to_index(lesion.at("centre_lps_mm").get<imaging::Vec3>());
  const double longest = lesion.at("longest_axial_diameter_mm").get<double>();
  const std::string name = finding.class_name.empty() ? "lesion" : finding.class_name;
  finding.json = {
      {"number", number},
      {"list", std::string(name_of(finding.list))},
      {"title", fmt::format("{}, {} ml, {} mm", name, rounded(lesion.at("volume_ml").get<double>()),
                            rounded(longest))},
      {"why", text_or(lesion.at("location").at("text"), "")},
      {"score", lesion.at("score")},
      {"class", finding.class_name},
      {"centre", {z, y, x}},
      {"radius_mm", longest / 2}};
  return finding;
}

void add_regions(const Json& slide, std::vector<Finding>& out) {
  std::set<std::uint64_t> listed;
  for (const Json& region : slide.at("equivocal").at("list")) {
    out.push_back(region_finding(region, FindingList::equivocal));
    listed.insert(out.back().number);
  }
  for (const Json& region : slide.at("regions").at("list")) {
    if (listed.contains(region.at("number").get<std::uint64_t>())) continue;
    out.push_back(region_finding(region, FindingList::regions));
  }
}

void add_lesions(const Json& volume, const imaging::VolumeGrid& grid, std::vector<Finding>& out) {
  const Json& lesions = volume.at("lesions");
  if (!lesions.is_array()) return;
  for (std::size_t i = 0; i < lesions.size(); ++i)
    out.push_back(lesion_finding(lesions[i], i + 1, grid));
}

}  // namespace

std::vector<Finding> findings_of(const result::ImageResult& result) {
  std::vector<Finding> out;
  try {
    if (result.facts().slide) {
      add_regions(result.findings().at("slide"), out);
    } else {
      add_lesions(result.findings().at("volume"), result.facts().volume->grid, out);
    }
  } catch (const Json::exception& error) {
    fail(ErrorCode::malformed, "{}: its findings are not those of this version ({}); predict again",
         result.folder().string(), json_fault(error));
  }
  return out;
}

}  // namespace headrace::view
