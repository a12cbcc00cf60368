#pragma once
#include <cstddef>
#include <vector>

#include "headrace/cohort/cohort.hpp"
#include "headrace/loader/plan/preprocessing.hpp"
#include "learn/config/run_config.hpp"
#include "learn/predict/quality/remark.hpp"

namespace headrace::predict {

/// Ratio of a volume's spacing to the run's, along any axis, from which the detail is missing that
/// the run uses.
inline constexpr double kCoarseSpacing = 1.5;
/// Share of the body with intensities as under the training's labels below which there is next to
/// nothing that the network knows.
inline constexpr double kKnownShare = 0.01;

/// What is to be said of a volume before its prediction is believed. A pure function of the image's
/// record and histograms in its store and of the run: the same remarks on every machine, in
/// the same order.
///
/// Extent, spacing and the plausibility of units are judged for every run; intensities only against
/// those under the training's labels, which a run has whose transforms need them (normalize or
/// clip_percentiles by foreground). A run keeps no contrast phases, body statistics or spacings of
/// its training volumes, so phases are not judged, and spacing and extent are held against the
/// patch.
///
/// errors  usage (a slide; a channel that the store lacks or has in another unit:
///         loader::stored_channels); those of reading the store
std::vector<Remark> volume_quality(const cohort::Cohort& cohort, std::size_t image,
                                   const loader::Preprocessing& preprocessing,
                                   const config::RunConfig& config);

}  // namespace headrace::predict
