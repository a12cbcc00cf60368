#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "headrace/core/intensity_unit.hpp"
#include "headrace/imaging/volume/volume_grid.hpp"
#include "headrace/view/inputs/view_item.hpp"
#include "headrace/view/lru_cache.hpp"
#include "headrace/view/slide/zoom_tiles.hpp"
#include "headrace/view/volume/voxel_source.hpp"

namespace headrace::view {

/// The grid on which all layers of a slide are shown.
struct ShownSlide {
  DeepZoom zoom;
  double mpp = 0;  ///< 0: not known
};

/// The grid on which all layers of a volume are shown.
struct ShownVolume {
  imaging::VolumeGrid grid;
  IntensityUnit unit = IntensityUnit::hu;
};

/// The images of items, opened when they are first looked at, so that a cohort of any size starts
/// at once and one bad file spoils only its own item. Those that were not used for long are closed
/// again. Safe from any thread.
class OpenImages {
 public:
  explicit OpenImages(const std::vector<ViewItem>& items);

  // Errors of all: those of the readers; usage (the prediction is of an image of another size).
  ShownSlide slide(std::size_t item);
  ShownVolume volume(std::size_t item);
  /// layer: one of layers_of(item).
  std::shared_ptr<const ZoomTiles> slide_layer(std::size_t item, const ViewLayer& layer);
  std::shared_ptr<const VoxelSource> volume_layer(std::size_t item, const ViewLayer& layer);

 private:
  using LayerKey = std::pair<std::size_t, std::string>;

  std::shared_ptr<const SlideFile> slide_file(std::size_t item);
  std::shared_ptr<const VolumeInMemory> volume_file(std::size_t item);
  std::shared_ptr<const SlidePicture> picture(std::size_t item, const ViewLayer& layer);
  std::shared_ptr<const VoxelSource> voxels(std::size_t item, const ViewLayer& layer);

  const std::vector<ViewItem>& items_;
  TileCache coarse_tiles_;
  LruCache<std::size_t, SlideFile> slide_files_;
  LruCache<std::size_t, VolumeInMemory> volume_files_;
  LruCache<LayerKey, ZoomTiles> slide_layers_;
  LruCache<LayerKey, VoxelSource> volume_layers_;
  std::atomic<std::uint64_t> next_number_ = 0;
};

}  // namespace headrace::view
