#pragma once
#include <memory>

#include "headrace/imaging/volume/volume_reader.hpp"

namespace headrace::imaging {

/// What the user states of values: HU = slope · value + intercept.
struct Rescale {
  double slope = 1, intercept = 0;

  bool operator==(const Rescale&) const = default;
};

/// A volume with its values rescaled; a note says so.
std::unique_ptr<VolumeReader> rescaled(std::unique_ptr<VolumeReader> volume,
                                       const Rescale& rescale);

}  // namespace headrace::imaging
