#pragma once
#include <memory>
#include <optional>
#include <string>

#include "headrace/core/json.hpp"
#include "learn/view/http/http_message.hpp"
#include "learn/view/volume/voxel_source.hpp"

namespace headrace::view {

/// A volume in Neuroglancer's "precomputed" format: chunks of 64³ voxels, encoding raw, sizes in
/// nanometres, first voxel at 0; scales are named "0", "1", … All are images, int16
/// or uint8: class maps too (255: not predicted, not annotated), since Neuroglancer makes code from
/// strings for its segmentations, which the page's Content-Security-Policy forbids.
/// source: Neuroglancer, src/datasource/precomputed/volume.md
///
/// `info`.
Json precomputed_info(const VoxelSource& source);
/// The chunk x0-x1_y0-y1_z0-z1 of a scale, x fastest; null where there is none of that name.
std::shared_ptr<const Bytes> precomputed_chunk(const VoxelSource& source, const std::string& scale,
                                               const std::string& chunk);

}  // namespace headrace::view
