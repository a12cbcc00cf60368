#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "headrace/core/json.hpp"
#include "headrace/pixels/stain/stain_estimate.hpp"
#include "headrace/pixels/statistics/statistics_workspaces.hpp"
#include "headrace/pixels/tissue/mask.hpp"
#include "headrace/zarr/array.hpp"

namespace headrace::ingest {

/// Colour of one slide's tissue.
struct SlideColour {
  pixels::OdMoments moments;
  std::optional<pixels::StainEstimate> stain;
};

/// Estimates colour from the tissue pixels of one stored level: at most 128 blocks of 256×256
/// pixels, evenly spread over those with tissue, so that the cost does not grow with the slide. The
/// same for any number of threads. tissue: the mask; level_px_per_mask_px: pixels of `level` along
/// the edge of one mask pixel. workspaces: those of a device that computes the sums, with the same
/// result; null: the CPU.
SlideColour estimate_colour(const std::shared_ptr<const zarr::Array>& level,
                            const pixels::Mask& tissue, std::int64_t level_px_per_mask_px,
                            pixels::StatisticsWorkspaces* workspaces = nullptr);

/// Integers, so that slides can be merged in any order: {"pixels", "sum", "product"}.
Json moments_json(const pixels::OdMoments& moments);
/// Errors: malformed.
pixels::OdMoments parse_moments(const Json& json, const std::string& origin);

}  // namespace headrace::ingest
