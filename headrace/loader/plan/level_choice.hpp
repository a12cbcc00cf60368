#pragma once
#include <array>
#include <cstddef>

#include "headrace/cohort/cohort.hpp"
#include "headrace/loader/config/loader_config.hpp"

namespace headrace::loader {

/// Micrometres a pixel of a level for the transform; with patch.mpp null, pixels of level 0 a
/// pixel. Errors: usage, when the image does not state its size and the config asks for
/// micrometres.
std::array<double, 2> level_mpp_yx(const cohort::ImageRecord& image, std::size_t level,
                                   const LoaderConfig& config);

/// The level from which patches of pixels of `mpp` are read (patch.mpp times the context): the
/// coarsest that is at least as fine (to one part in a thousand, so that 0.2501 serves 0.25). In a 2x pyramid the remaining
/// reduction is then below 2, for which bilinear interpolation reads every stored pixel. Where even
/// level 0 is too coarse, level 0.
std::size_t choose_level(const cohort::ImageRecord& image, double mpp, const LoaderConfig& config);

/// Millimetres between the voxels of a volume's level for the transform; with patch.spacing_mm
/// null, voxels of level 0.
std::array<double, 3> level_spacing_mm_zyx(const cohort::ImageRecord& image, std::size_t level,
                                           const LoaderConfig& config);

/// The level from which a volume's patches are read: the coarsest that is along every axis at least
/// as fine as the patch, or as level 0 where level 0 is coarser than the patch (to one part in a
/// thousand).
std::size_t choose_volume_level(const cohort::ImageRecord& image, const LoaderConfig& config);

}  // namespace headrace::loader
