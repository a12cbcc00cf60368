#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "headrace/cohort/cohort.hpp"

namespace headrace::cli {

/// The request to `headrace read`.
struct ReadArguments {
  std::string path, image, label, out, version;
  std::string channel;  ///< for a volume; empty: the first
  int level = 0;
  std::vector<std::int64_t> origin, size;
  std::vector<double> window;  ///< in the channel's unit; empty: soft tissue, SUV 0 to 10
};

/// Refuses a level that does not exist.
std::size_t level_of(const ReadArguments& a, std::size_t levels);

/// Refuses an origin or a size whose number of values is not the image's number of axes, or that
/// exceeds the bound of memory.
void check_region(const ReadArguments& a, std::size_t axes);

/// Writes a box of a volume as .npy in the stored order, or one slice as .png in radiological
/// convention.
void read_volume_region(const ReadArguments& a, const cohort::Cohort& cohort);

/// Writes all of level 0 as .nii.gz on the grid of the file that it came from. Takes no region.
void read_volume_in_file_order(const ReadArguments& a, const cohort::Cohort& cohort);

}  // namespace headrace::cli
