#include "headrace/ingest/slide/slide_references.hpp"

#include <algorithm>
#include <vector>

#include "headrace/cohort/referenced_files.hpp"
#include "headrace/zarr/tile_table.hpp"

namespace headrace::ingest {
namespace {

// Levels from here on have at most a sixteenth of the pixels: they are kept where the file lacks
// them. To average such a level for a patch would read 16 times its pixels, or more.
constexpr std::size_t kFirstKept = 2;

zarr::OtherPixels tiles_of_source() {
  return {zarr::OtherPixels::Kind::tile_table, cohort::kTileTable,
          std::string("../") + cohort::kSourceName};
}

/// How the tiles of a level are decoded.
Json codecs_of(const imaging::EncodedTiles& tiles, int level) {
  const bool rgb = tiles.is_rgb(level);
  return tiles.codec() == imaging::TileCodec::jpeg
             ? zarr::Codecs::jpeg_with_tables(tiles.jpeg_tables(level), rgb)
             : zarr::Codecs::jpeg2k_tiles(!rgb);
}

}  // namespace

std::string why_no_reference(const imaging::SlideInfo& info, const imaging::EncodedTiles* tiles) {
  if (tiles == nullptr || tiles->levels().empty())
    return fmt::format(
        "its format is {}, and its pixels do not lie in JPEG or JPEG 2000 tiles of a TIFF",
        info.format);
  return {};
}

void take_by_reference(SlidePlan& plan) {
  plan.by_reference = true;
  const auto colour = static_cast<std::size_t>(plan.colour_level);
  const auto has = [&](std::size_t k) {
    return k < plan.levels.size() && plan.levels[k].tiles_level.has_value();
  };
  for (std::size_t k = 1; k < plan.levels.size(); ++k)
    plan.levels[k].averaged = !has(k) && k < kFirstKept && k != colour;
  // A pass over pixels that keeps none of them is not made.
  std::erase_if(plan.runs, [&](const LevelRun& run) {
    const bool for_tissue = run.first < plan.tissue_level && plan.tissue_level <= run.last;
    if (run.write_first || for_tissue) return false;
    for (int k = run.first + 1; k <= run.last; ++k) {
      if (!plan.levels[static_cast<std::size_t>(k)].averaged) return false;
    }
    return true;
  });
}

void write_references(const std::shared_ptr<storage::Store>& store, const std::string& id,
                      const SlidePlan& plan, const imaging::EncodedTiles& tiles) {
  for (std::size_t k = 0; k < plan.levels.size(); ++k) {
    const LevelPlan& level = plan.levels[k];
    const std::string path = fmt::format("images/{}/{}", id, k);
    zarr::ArrayMetadata array = plan.image_array(static_cast<int>(k));
    if (level.averaged) {
      array.other_pixels = {zarr::OtherPixels::Kind::average, "", fmt::format("../{}", k - 1)};
      zarr::write_average(store, path, array);
    } else if (level.tiles_level) {
      const int source = *level.tiles_level;
      array.other_pixels = tiles_of_source();
      Json inner =
          Json::array({Json{{"name", "transpose"}, {"configuration", {{"order", {1, 2, 0}}}}}});
      for (Json& codec : codecs_of(tiles, source)) inner.push_back(std::move(codec));
      array.codecs = zarr::Codecs::sharded({3, plan.chunk, plan.chunk}, inner);
      std::vector<zarr::TileRange> ranges;
      for (const auto& place : tiles.places(source)) ranges.push_back({place.offset, place.size});
      zarr::write_tile_table(store, path, array, ranges);
    }
  }
}

}  // namespace headrace::ingest
