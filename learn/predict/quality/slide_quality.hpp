#pragma once
#include <cstddef>
#include <vector>

#include "headrace/cohort/cohort.hpp"
#include "headrace/loader/plan/preprocessing.hpp"
#include "learn/config/run_config.hpp"
#include "learn/predict/quality/remark.hpp"

namespace headrace::predict {

/// Ratio of a slide's pixel size to the run's from which the detail is missing that the run uses.
inline constexpr double kCoarsePixels = 1.5;
/// Share of windows below the limit from which a slide that is sharp as a whole is partly blurred.
inline constexpr double kBlurredShare = 0.25;

/// What is to be said of a slide before its prediction is believed. A pure function of the image in
/// its store and of the run: the same remarks on every machine, in the order of QualityCode.
///
/// Tissue, sharpness (sharpness.hpp), ink (ink.hpp) and pixel size are judged for every run. The
/// run's preprocessing states what else can be: stains only with stain_normalize, colour and
/// scanner only with scanner_color (stain_fit.hpp); a run with neither knows nothing of its
/// training slides' colours.
///
/// memory  the level of the tissue mask, and one window
/// errors  usage (a volume); those of reading the store
std::vector<Remark> slide_quality(const cohort::Cohort& cohort, std::size_t image,
                                  const loader::Preprocessing& preprocessing,
                                  const config::RunConfig& config);

}  // namespace headrace::predict
