#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "headrace/core/json.hpp"
#include "headrace/imaging/image.hpp"
#include "headrace/loader/loader.hpp"
#include "headrace/loader/run_config.hpp"
#include "headrace/source/cohort.hpp"
#include "headrace/train/network.hpp"

namespace headrace::train {

/// A picture for the report: what the model saw, what is true, what it said.
struct MontagePatch {
  std::string image;
  std::array<std::int64_t, 2> tile_yx{};
  imaging::Image8 seen;  ///< after the transforms, their normalisation undone
  std::vector<std::uint8_t> truth, predicted;
};

struct Evaluation {
  Json json;  ///< eval.json (docs/formats.md, "Run folder")
  std::vector<MontagePatch> montage;
  loader::StallStats loader;
  double mean_dice = 0;  ///< over the classes but background; 0 when undefined
};

struct EvaluateOptions {
  std::string split;
  std::size_t montage = 0;  ///< how many patches to keep
};

/// Runs the network over every tile of a split through the loader (no random transforms), blends
/// the overlapping tiles, and compares with the annotation.
///
/// Counted are pixels that are annotated and under a tile (tiles cover the tissue). Class 0 is
/// background: it has a Dice of its own, and stays out of the mean. Figures for the split, for each
/// cohort, scanner and image; for task gleason also a grade for each slide and kappa.
/// errors  usage (no image in the split; classes without a Gleason pattern), those of the loader
Evaluation evaluate(Network& network, const std::shared_ptr<const source::Cohort>& cohort,
                    const loader::RunConfig& config, const EvaluateOptions& options);

/// One line a slide: id, case, cohort, scanner, Dice by class, and for gleason the grades.
std::string slides_csv(const Json& evaluation);

}  // namespace headrace::train
