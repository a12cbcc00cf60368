#pragma once
#include <optional>
#include <string>
#include <vector>

#include "headrace/imaging/dicom/dicom_series.hpp"

namespace headrace::ingest {

/// What the user states of sources of volumes, where files leave it open.
struct VolumeSourceOptions {
  imaging::Irregular irregular = imaging::Irregular::refuse;  ///< gaps, doubled slices, gantry tilt
  /// Slope and intercept that make HU of the values of CT whose headers state none, and of other
  /// files' values; empty: none are stated.
  std::vector<double> rescale;
  /// Which acquisition of a series that holds several: a number, first, last; all: each is an image
  /// of its own; together: they are one stack; empty: such a series is refused.
  std::string acquisition;
  bool join_series = false;  ///< see imaging::SeriesRules
};

/// Errors: usage; names the option.
void check_sources(const VolumeSourceOptions& options);

imaging::SeriesRules series_rules(const VolumeSourceOptions& options);

/// How a source is read; made of checked options.
struct VolumeReading {
  imaging::Irregular irregular = imaging::Irregular::refuse;
  std::optional<imaging::Rescale> rescale;
};

VolumeReading reading_of(const VolumeSourceOptions& options);

}  // namespace headrace::ingest
