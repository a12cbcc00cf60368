#pragma once
#include <array>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "headrace/core/json.hpp"
#include "headrace/imaging/volume/volume_grid.hpp"
#include "headrace/zarr/array.hpp"

namespace headrace::result {

/// The map of a slide: pixels of the run's patches.
struct SlideMap {
  std::int64_t height = 0, width = 0;        ///< of the map
  double mpp = 0;                            ///< micrometres a pixel of the map; 0: not known
  std::array<double, 2> level0_px_yx{1, 1};  ///< pixels of the slide's level 0 a pixel of the map
  std::int64_t level0_height = 0, level0_width = 0;
  /// First row and column of the scan on level 0, which QuPath counts from; 0: no larger canvas.
  std::array<std::int64_t, 2> scan_origin_yx{};
};

/// The map of a volume: its voxels in the store's order (LPS), level 0.
struct VolumeMap {
  imaging::VolumeGrid grid;       ///< of the map
  imaging::VolumeGrid file_grid;  ///< of the file that was predicted
  imaging::AxisMap from_file;     ///< from the file's axes to the map's
  /// imaging::voxel_hash of the volume (of several channels, the first); empty in results of before
  /// it was stated.
  std::string voxels_sha256 = {};
};

/// One trained network of a prediction.
struct NetworkFacts {
  std::string name;  ///< of the run folder
  std::string weights, weights_sha256, config_hash, preprocessing_sha256, code_version;
};

/// What a prediction of one image states besides its maps and findings.
struct ImageFacts {
  std::string id, case_id;
  std::string source;  ///< path of the file or folder that was predicted, or of the store
  std::string task;    ///< of the run: grading, segmentation, lesions
  std::vector<std::string> classes;    ///< by value of the class map; 0 is background
  std::vector<NetworkFacts> networks;  ///< their mean is the prediction
  bool flips = false;                  ///< the mean over mirrored images too
  std::string code_version;            ///< of the program that predicted
  std::optional<SlideMap> slide;
  std::optional<VolumeMap> volume;

  Json to_json() const;
  /// Errors: malformed; `origin` names the file.
  static ImageFacts from_json(const Json& json, const std::string& origin);
};

/// Value of the class map where nothing was predicted: no tissue, outside the body.
inline constexpr std::uint8_t kNotPredicted = 255;

/// A finished prediction of one image: a folder that is an OME-Zarr image (docs/formats.md,
/// "Predictions"). Immutable; reads are safe from any thread.
class ImageResult {
 public:
  /// Errors: not_found (no finished prediction there), malformed, unsupported.
  static ImageResult open(const std::filesystem::path& folder);
  /// Folders of the finished predictions in an output folder of `headrace predict`, or the folder
  /// itself where it is one; sorted by name. Errors: not_found when there is none.
  static std::vector<std::filesystem::path> find(const std::filesystem::path& folder);

  const std::filesystem::path& folder() const noexcept { return folder_; }
  const ImageFacts& facts() const noexcept { return facts_; }
  /// findings.json (docs/formats.md).
  const Json& findings() const noexcept { return findings_; }
  /// uint8 (y, x) or (z, y, x): the class, or kNotPredicted. Level k is 2^k coarser (slides only).
  std::shared_ptr<const zarr::Array> classes(std::size_t level = 0) const;
  std::size_t levels() const;
  /// Volumes whose run looks for lesions: uint8 (z, y, x), the number of a lesion in the findings,
  /// from 1; 0 elsewhere, and for lesions after the 254th. Null where there are none to look for.
  std::shared_ptr<const zarr::Array> lesions() const;
  /// uint8 (class, y, x) or (class, z, y, x): probability · 255, rounded; all 0 where nothing was
  /// predicted. Level 0.
  std::shared_ptr<const zarr::Array> probability() const;

 private:
  std::filesystem::path folder_;
  std::shared_ptr<storage::Store> store_;
  ImageFacts facts_;
  Json findings_;
};

}  // namespace headrace::result
