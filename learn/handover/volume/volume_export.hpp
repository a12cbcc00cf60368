#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "headrace/core/threads.hpp"
#include "headrace/zarr/array.hpp"
#include "learn/result/image_result.hpp"

/// Files of a predicted volume for other programs. All are on the grid of the file that was
/// predicted, voxel for voxel in its axis order, so they lie over it without resampling. Each
/// appears under its name only when complete, and has the same bytes for any number of threads.
namespace headrace::handover {

/// (z, y, x) of a result's class map. Errors: those of reading it.
std::vector<std::uint8_t> class_voxels(const zarr::Array& classes);
/// (z, y, x) of one class's probability · 255. Errors: usage (no such class), those of reading it.
std::vector<std::uint8_t> probability_voxels(const zarr::Array& probability,
                                             std::size_t class_value);

/// A class map as NIfTI-1: uint8 label values, 0 for background and for what was not predicted.
///
/// in      path    ends in .nii.gz
///         voxels  (z, y, x) in stored order, of map.grid
/// memory  a few slices for each thread
/// returns bytes written
/// errors  usage (an axis over 32767), io, those of file_places
std::uint64_t write_class_nifti(const std::string& path, const result::VolumeMap& map,
                                std::span<const std::uint8_t> voxels, ThreadPool& pool);

/// The probability of one class as NIfTI-1: uint8 with scl_slope 1/255, which readers show as 0 to
/// 1. voxels: probability · 255. Otherwise as write_class_nifti.
std::uint64_t write_probability_nifti(const std::string& path, const result::VolumeMap& map,
                                      std::span<const std::uint8_t> voxels, ThreadPool& pool);

/// What a segment of a class shows.
struct ClassLook {
  std::string name;
  std::array<std::uint8_t, 3> rgb{};
};

/// A class map as 3D Slicer's segmentation: one segment for each class above 0, also for those
/// without a voxel, in their order; label values are the classes'.
///
/// in      path     ends in .seg.nrrd
///         classes  by value of the class map; that of 0, background, is not used
/// errors  malformed (a voxel of a class that has no name), otherwise as write_class_nifti
std::uint64_t write_segmentation(const std::string& path, const result::VolumeMap& map,
                                 std::span<const std::uint8_t> voxels,
                                 std::span<const ClassLook> classes, ThreadPool& pool);

}  // namespace headrace::handover
