#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "headrace/core/intensity_stats.hpp"
#include "headrace/core/intensity_unit.hpp"
#include "headrace/imaging/note.hpp"
#include "headrace/ingest/volume/intensity_histogram.hpp"
#include "headrace/ingest/volume/volume_plan.hpp"

namespace headrace::ingest {

/// Percentile 0.5 of a body in HU above which the values are none of a CT: every body has fat (-120
/// to -60 HU), while MR and PET have nothing below 0.
inline constexpr double kLowestOfCt = -30;
/// Of values in SUV: percentile 0.5 below which, and mean above which, they are none. The mean of a
/// whole body is 1 by definition.
inline constexpr double kLowestSuv = -1, kHighestMeanSuv = 20;

/// Whether the statistics of a body are those of values in this unit.
bool is_plausible(const IntensityStats& body, IntensityUnit unit);

/// What is to be said of a channel's values before they are believed.
struct ValueFindings {
  /// Why they can't be in the unit and what they may be: what stands after "its values". Empty:
  /// they may be.
  std::string impossible;
  std::vector<imaging::Note> notes;
};

/// Judges the values of a channel. `all`: of the whole volume, or an even sample of it
/// (sampled_values); `body`: of its body.
///
/// Only what no CT (or PET) has is impossible: one value everywhere; less than 20 steps between the
/// values; 0 to 255; no air and no fat, where tissue lies above bone (HU + 1024, raw values) or
/// much of the volume is dark and the rest is brighter than any soft tissue (MR); all tissue below
/// air (the intercept taken twice). A crop without air, clipped HU and a window of brain are
/// possible, and noted.
ValueFindings judge_values(std::size_t channel, const IntensityHistogram& all,
                           const IntensityHistogram& body);

/// The values of some rows, evenly spread: of all, up to some four million voxels. The same for any
/// number of threads.
IntensityHistogram sampled_values(const std::int16_t* stored, const Shape3& shape_zyx,
                                  IntensityUnit unit);

}  // namespace headrace::ingest
