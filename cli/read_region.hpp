#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "headrace/source/cohort.hpp"

namespace headrace::cli {

/// What `headrace read` was asked for.
struct ReadArguments {
  std::string path, image, label, out, version;
  std::string channel;  ///< of a volume; empty: the first
  int level = 0;
  std::vector<std::int64_t> origin, size;
  std::vector<double> window;  ///< in the channel's unit; empty: soft tissue, SUV 0 to 10
};

/// Refuses a level that is not there.
std::size_t level_of(const ReadArguments& a, std::size_t levels);

/// Refuses an origin or a size that has not as many numbers as the image has axes, or that asks for
/// more than memory is taken for.
void check_region(const ReadArguments& a, std::size_t axes);

/// Writes a box of a volume as .npy in the stored order, or one slice as .png in radiological
/// convention.
void read_volume_region(const ReadArguments& a, const source::Cohort& cohort);

/// Writes all of level 0 as .nii.gz on the grid of the file that it came from. Takes no region.
void read_volume_in_file_order(const ReadArguments& a, const source::Cohort& cohort);

}  // namespace headrace::cli
