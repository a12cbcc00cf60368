#pragma once
#include <string>
#include <vector>

#include "headrace/core/json.hpp"

namespace headrace::cohort {

/// Of OME-Zarr, https://ngff.openmicroscopy.org/0.5/
inline constexpr const char* kOmeVersion = "0.5";

/// attributes.ome of a label image of any kind: its multiscales, and the classes' names and
/// colours.
Json ome_label_image(const Json& multiscales, const std::vector<std::string>& classes);

/// attributes.ome of the group that holds label images.
Json ome_labels_group(const std::vector<std::string>& names);

}  // namespace headrace::cohort
