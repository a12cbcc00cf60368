#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "headrace/core/enum_names.hpp"
#include "headrace/core/json.hpp"
#include "learn/result/image_result.hpp"

namespace headrace::view {

/// The lists of findings.json whose entries are reviewed.
enum class FindingList {
  equivocal,  ///< regions to review first
  regions,    ///< the other regions of a slide
  lesions     ///< of a volume
};

}  // namespace headrace::view

namespace headrace {
template <>
inline constexpr auto kNamesOf<view::FindingList> =
    names<view::FindingList>({{view::FindingList::equivocal, "equivocal"},
                              {view::FindingList::regions, "regions"},
                              {view::FindingList::lesions, "lesions"}});
}  // namespace headrace

namespace headrace::view {

/// One finding as the page shows it (README.md of this layer).
struct Finding {
  FindingList list = FindingList::regions;
  std::uint64_t number = 0;  ///< as in findings.json: of the region, or the lesion's place from 1
  std::string class_name;    ///< empty: none was predicted
  Json json;                 ///< number, list, title, why, score, class, box, centre, radius_mm
};

/// Each finding once: equivocal regions, then the other listed regions; or lesions; in the order of
/// findings.json. Errors: malformed (names the result).
std::vector<Finding> findings_of(const result::ImageResult& result);

}  // namespace headrace::view
