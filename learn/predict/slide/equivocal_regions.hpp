#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "learn/predict/slide/slide_findings.hpp"

namespace headrace::predict {

/// The tumour regions with a doubt above FindingOptions::min_doubt, ranked (SlideFindings). Of a
/// region that is in doubt about its class and about tumour, that is told which changes the grade
/// group, else the greater doubt.
std::vector<EquivocalRegion> find_equivocal(const SlideFacts& facts,
                                            const std::vector<std::uint64_t>& area_px_by_class,
                                            const std::vector<SlideRegion>& regions);

/// Why a region is listed, in a sentence for a reader: "pattern 3 (0.47) or pattern 4 (0.44), 0.81
/// mm²; as pattern 4 the grade group would be 3 instead of 2".
std::string doubt_sentence(const EquivocalRegion& equivocal, const SlideRegion& region,
                           const SlideFacts& facts);

}  // namespace headrace::predict
