#pragma once
#include "cli/command_line.hpp"
#include "headrace/ingest/volume/volume_sources.hpp"

namespace headrace::cli {

/// Adds what a user may state of CT and PET files: --irregular, --rescale, --acquisition,
/// --join-series.
inline void add_volume_source_options(Command app, ingest::VolumeSourceOptions& options,
                                      const char* group) {
  app.choice("--irregular", options.irregular,
             "missing, doubled or unevenly spaced slices and gantry tilt; resample: to the finest "
             "step, and slices that are not there are ignore in labels")
      .group(group);
  app.option("--rescale", options.rescale,
             "SLOPE,INTERCEPT that make Hounsfield units of CT whose DICOM headers state none, "
             "and of the values of other files, as 1,-1024")
      .separated_by_commas()
      .takes(2)
      .one_word()
      .group(group);
  app.option("--acquisition", options.acquisition,
             "of DICOM series that hold several acquisitions, time points or reconstructions of "
             "the same places: a number, first, last, all (each is an image), together (one "
             "stack)")
      .group(group);
  app.flag("--join-series", options.join_series,
           "DICOM series of one study with one number whose slices fit each other are one: of "
           "programs that give each slice a series of its own")
      .group(group);
}

}  // namespace headrace::cli
