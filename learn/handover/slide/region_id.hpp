#pragma once
#include <string>

#include "headrace/pixels/regions/region_tracer.hpp"
#include "learn/result/image_result.hpp"

namespace headrace::handover {

/// The UUID of a region of a prediction: the same for the same weights, image, class and first
/// pixel, whatever else is exported. source: RFC 9562, section 5.8 (version 8) and appendix B.2, by
/// SHA-256.
std::string region_id(const result::ImageFacts& facts, const pixels::TracedRegion& region);

}  // namespace headrace::handover
