#pragma once
#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace headrace::fixtures {

/// A small cohort of volumes written with zarr::ArrayWriter to the layout of docs/formats.md, with
/// known HU, labels, body and cells.
struct VolumeSpec {
  int images = 3;
  std::array<std::int64_t, 3> shape_zyx{50, 130, 141};
  std::array<double, 3> spacing_mm_zyx{2.5, 0.8, 0.8};
  std::string codec = "blosc-zstd";  ///< blosc-zstd | blosc-lz4 | zstd
  bool checked = false;              ///< with crc32c after it
  std::size_t align = 1;             ///< inner chunks begin at multiples of it
  std::int64_t inner = 32, shard = 96, cell = 16;
  std::vector<std::string> cohorts{"east", "west"};  ///< dealt out in turn
  std::vector<std::string> splits{"train", "train", "val"};
  std::vector<std::string> classes{"background", "liver", "lesion"};
  bool labels = true;
  bool air_alone = false;  ///< no body at all
  /// Label of voxel (z, y, x) of image i, instead of the labels below; 255: ignore.
  std::function<std::uint8_t(int, std::int64_t, std::int64_t, std::int64_t)> label;
  std::function<bool(int)> annotated;       ///< whether it has label images (where `labels` is set)
  std::function<std::string(int)> scanner;  ///< none, or an empty one: not stated
};

/// HU of voxel (z, y, x) of image `i`: waves inside an ellipsoid of soft tissue, -1000 around it.
std::int16_t fixture_hu(const VolumeSpec& spec, int i, std::int64_t z, std::int64_t y,
                        std::int64_t x);
/// Its label: 2 in a ball, 1 in the rest of the body's left part, 255 (ignore) in a corner of it.
std::uint8_t fixture_volume_label(const VolumeSpec& spec, int i, std::int64_t z, std::int64_t y,
                                  std::int64_t x);
/// Name of image `i`, in the order of ids.
std::string fixture_volume_id(int i);

void write_volume_store(const std::string& path, const VolumeSpec& spec);

}  // namespace headrace::fixtures
