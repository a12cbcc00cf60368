#include "learn/view/open_images.hpp"

#include "headrace/core/error.hpp"
#include "headrace/imaging/dicom/dicom_series.hpp"

namespace headrace::view {
namespace {

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;
constexpr std::uint64_t kCoarseTileBytes = 256 * kMiB;
constexpr std::uint64_t kVolumeBytes = 2048 * kMiB;
/// Files and arrays have no size in memory that is known; they are counted.
constexpr std::uint64_t kMostSlideFiles = 16, kMostLayers = 256;

imaging::VolumeGrid grid_of(const cohort::VolumeRecord& volume) {
  imaging::VolumeGrid grid;
  grid.shape_zyx = volume.levels.front().shape_zyx;
  grid.affine_lps = volume.affine_lps;
  return grid;
}

double square_mpp(const std::array<double, 2>& mpp_yx) {
  return mpp_yx[0] == mpp_yx[1] ? mpp_yx[0] : 0;
}

void check_size(const ViewItem& item, bool same) {
  if (same) return;
  fail(ErrorCode::usage,
       "{}: its prediction in {} is of an image of another size; show them one by one", item.id,
       item.result->folder().string());
}

}  // namespace

OpenImages::OpenImages()
    : coarse_tiles_(kCoarseTileBytes),
      slide_files_(kMostSlideFiles),
      volume_files_(kVolumeBytes),
      slide_layers_(kMostLayers),
      volume_layers_(kMostLayers) {}

std::shared_ptr<const SlideFile> OpenImages::slide_file(const ShownItem& shown) {
  return slide_files_.get(shown.number, [&]() -> LruCache<std::size_t, SlideFile>::Made {
    return {std::make_shared<const SlideFile>(open_slide_file(shown.item.file->path)), 1};
  });
}

std::shared_ptr<const VolumeInMemory> OpenImages::volume_file(const ShownItem& shown) {
  return volume_files_.get(shown.number, [&]() -> LruCache<std::size_t, VolumeInMemory>::Made {
    const FileImage& file = *shown.item.file;
    const auto reader = file.series
                            ? imaging::open_dicom_series(*file.series, imaging::Irregular::resample)
                            : imaging::open_volume(file.path);
    auto volume = std::make_shared<const VolumeInMemory>(load_volume(*reader));
    const std::uint64_t bytes = volume->bytes;
    return {std::move(volume), bytes};
  });
}

ShownSlide OpenImages::slide(const ShownItem& shown) {
  const ViewItem& item = shown.item;
  ShownSlide out;
  if (item.stored) {
    const auto& level = item.stored->record().levels.front();
    out = {{level.height, level.width}, square_mpp(level.mpp_yx)};
  } else if (item.file) {
    const auto file = slide_file(shown);
    const auto& level = file->picture->levels().front();
    out = {{level.height, level.width}, file->mpp};
  }
  if (!item.result) return out;
  const result::SlideMap& map = *item.result->facts().slide;
  if (out.zoom.height == 0) {
    return {{map.level0_height, map.level0_width}, map.mpp > 0 ? map.mpp / map.level0_px_yx[1] : 0};
  }
  check_size(item, out.zoom.height == map.level0_height && out.zoom.width == map.level0_width);
  return out;
}

ShownVolume OpenImages::volume(const ShownItem& shown) {
  const ViewItem& item = shown.item;
  ShownVolume out;
  if (item.stored) {
    out = {grid_of(*item.stored->record().volume), item.stored->cohort->unit_of(std::size_t{0})};
  } else if (item.file) {
    const auto file = volume_file(shown);
    out = {file->grid, file->unit};
  }
  if (!item.result) return out;
  const imaging::VolumeGrid& grid = item.result->facts().volume->grid;
  if (out.grid.voxels() == 0) return {grid, IntensityUnit::hu};
  check_size(item, out.grid.shape_zyx == grid.shape_zyx);
  return out;
}

std::shared_ptr<const SlidePicture> OpenImages::picture(const ShownItem& shown,
                                                        const ViewLayer& layer) {
  const ViewItem& item = shown.item;
  switch (layer.what) {
    case ViewLayer::What::image:
      return item.stored ? stored_slide(*item.stored->cohort, item.stored->image)
                         : slide_file(shown)->picture;
    case ViewLayer::What::annotation:
      return stored_labels(*item.stored->cohort, item.stored->image, layer.set);
    case ViewLayer::What::prediction:
      return predicted_classes(*item.result);
    case ViewLayer::What::probability:
      return predicted_probability(*item.result, layer.number);
    case ViewLayer::What::lesions:
      break;
  }
  fail(ErrorCode::internal, "{}: a slide has no layer {}", item.id, layer.name);
}

std::shared_ptr<const VoxelSource> OpenImages::voxels(const ShownItem& shown,
                                                      const ViewLayer& layer) {
  const ViewItem& item = shown.item;
  switch (layer.what) {
    case ViewLayer::What::image:
      return item.stored ? stored_volume(*item.stored->cohort, item.stored->image, layer.number)
                         : volume_file(shown)->source;
    case ViewLayer::What::annotation:
      return stored_volume_labels(*item.stored->cohort, item.stored->image, layer.set);
    case ViewLayer::What::prediction:
      return predicted_volume_classes(*item.result);
    case ViewLayer::What::probability:
      return predicted_volume_probability(*item.result, layer.number);
    case ViewLayer::What::lesions:
      return predicted_lesions(*item.result);
  }
  fail(ErrorCode::internal, "{}: a volume has no layer {}", item.id, layer.name);
}

std::shared_ptr<const ZoomTiles> OpenImages::slide_layer(const ShownItem& shown,
                                                         const ViewLayer& layer) {
  const LayerKey key{shown.number, shown.version, layer.name};
  return slide_layers_.get(key, [&]() -> LruCache<LayerKey, ZoomTiles>::Made {
    const auto values =
        layer.kind == LayerKind::labels ? ZoomTiles::Values::classes : ZoomTiles::Values::colours;
    return {std::make_shared<const ZoomTiles>(picture(shown, layer), slide(shown).zoom, values,
                                              next_number_++, coarse_tiles_),
            1};
  });
}

std::shared_ptr<const VoxelSource> OpenImages::volume_layer(const ShownItem& shown,
                                                            const ViewLayer& layer) {
  volume(shown);  // checks that the layers fit each other
  if (layer.what == ViewLayer::What::image && !shown.item.stored) return voxels(shown, layer);
  const LayerKey key{shown.number, shown.version, layer.name};
  return volume_layers_.get(key, [&]() -> LruCache<LayerKey, VoxelSource>::Made {
    return {voxels(shown, layer), 1};
  });
}

}  // namespace headrace::view
