#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <tuple>

#include "headrace/core/intensity_unit.hpp"
#include "headrace/imaging/volume/volume_grid.hpp"
#include "learn/view/shown_items.hpp"
#include "learn/view/slide/lru_cache.hpp"
#include "learn/view/slide/zoom_tiles.hpp"
#include "learn/view/volume/voxel_source.hpp"

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
/// again, as are those of an item's older versions. Safe from any thread.
class OpenImages {
 public:
  OpenImages();

  // Errors of all: those of the readers; usage (the prediction is of an image of another size).
  ShownSlide slide(const ShownItem& shown);
  ShownVolume volume(const ShownItem& shown);
  /// layer: one of shown.layers.
  std::shared_ptr<const ZoomTiles> slide_layer(const ShownItem& shown, const ViewLayer& layer);
  std::shared_ptr<const VoxelSource> volume_layer(const ShownItem& shown, const ViewLayer& layer);

 private:
  using LayerKey = std::tuple<std::size_t, std::uint64_t, std::string>;  ///< item, version, layer

  std::shared_ptr<const SlideFile> slide_file(const ShownItem& shown);
  std::shared_ptr<const VolumeInMemory> volume_file(const ShownItem& shown);
  std::shared_ptr<const SlidePicture> picture(const ShownItem& shown, const ViewLayer& layer);
  std::shared_ptr<const VoxelSource> voxels(const ShownItem& shown, const ViewLayer& layer);

  TileCache coarse_tiles_;
  LruCache<std::size_t, SlideFile> slide_files_;
  LruCache<std::size_t, VolumeInMemory> volume_files_;
  LruCache<LayerKey, ZoomTiles> slide_layers_;
  LruCache<LayerKey, VoxelSource> volume_layers_;
  std::atomic<std::uint64_t> next_number_ = 0;
};

}  // namespace headrace::view
