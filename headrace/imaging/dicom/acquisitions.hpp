#pragma once
#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace headrace::imaging {

/// What tells the acquisitions, time points and reconstructions of one series apart, as its files
/// state it. Times of day are among it: it is compared, never shown.
struct AcquisitionKeys {
  enum Key {
    number,
    time_point,
    heart_phase,
    time,
    kernel,
    voltage,
    kind,
    thickness,
    stack,
    count
  };
  std::array<std::string, count> values;
  std::optional<double> instance;  ///< InstanceNumber
};

/// A stack of slices in the parts that are volumes of their own.
struct AcquisitionSplit {
  std::size_t parts = 1;
  std::vector<std::size_t> part_of;  ///< of each slice, by what its headers state, ascending
  std::string told_by;               ///< the headers that tell them apart, in words
};

/// Splits a stack in which several slices lie in one place, or in which acquisitions are interleaved,
/// where headers tell its parts apart: each then has one slice a place, and at least two. A stack
/// that can't be told apart stays one part. Beside stacks a part may lie in one place (bolus
/// monitoring), which is no volume.
/// along_mm: of each slice along the normal
AcquisitionSplit split_acquisitions(const std::vector<double>& along_mm,
                                    const std::vector<AcquisitionKeys>& keys);

}  // namespace headrace::imaging
