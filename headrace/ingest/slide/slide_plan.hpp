#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "headrace/core/json.hpp"
#include "headrace/imaging/slide/slide_reader.hpp"
#include "headrace/imaging/tiff/encoded_tiles.hpp"
#include "headrace/ingest/slide/cascade.hpp"
#include "headrace/ingest/slide/ingest_slides.hpp"
#include "headrace/ingest/slide/slide_canvas.hpp"
#include "headrace/zarr/metadata.hpp"

namespace headrace::ingest {

/// How one level of the stored pyramid is made.
struct LevelPlan {
  LevelSize size;
  std::optional<int> reader_level;  ///< the source's own level of these pixels
  std::optional<int> tiles_level;   ///< its tiles are copied; not set: the level is encoded
  bool averaged = false;            ///< or made of the next finer level, when it is read
};

/// Levels [first, last], which one pass over the pixels of `first` makes; `first` itself is written
/// unless it is copied.
struct LevelRun {
  int first = 0, last = 0;
  bool write_first = false;
};

/// All decisions about a slide that are made before a pixel is read. The same for any number of
/// threads.
struct SlidePlan {
  std::vector<LevelPlan> levels;
  std::vector<LevelRun> runs;
  bool by_reference = false;                  ///< tiles are not copied: the file keeps them
  std::int64_t chunk = 0, shard = 0;          ///< edges in pixels
  SlideCodec codec = SlideCodec::blosc_zstd;  ///< `automatic` is settled
  int clevel = 0;
  std::size_t align = 1;        ///< inner chunks of the image begin at multiples of it
  double mpp_y = 0, mpp_x = 0;  ///< micrometres a pixel of level 0; 0: not known
  int tissue_level = 0;         ///< level from which the tissue mask is made
  int colour_level = 0;         ///< level whose tissue pixels give the colour statistics
  std::int64_t cell_px = 0;     ///< edge of a cell of the sampler's index, pixels of level 0
  std::optional<Box2> scan;     ///< what was scanned, where it is not the whole of level 0

  std::vector<LevelSize> sizes() const;
  SlideCanvas canvas() const { return {levels.at(0).size, scan}; }
  /// zarr.json of a level of the image and of a label image.
  zarr::ArrayMetadata image_array(int level) const;
  zarr::ArrayMetadata label_array(int level) const;
};

/// tiles: the encoded tiles of the file, or null. Errors: usage (chunk, shard), unsupported (codec
/// jpeg2k of a slide whose tiles can't be copied).
SlidePlan plan_slide(const imaging::SlideInfo& info, const imaging::EncodedTiles* tiles,
                     const SlideIngestOptions& options, std::optional<double> mpp);

/// The plan of a stored slide, as far as its label images need it.
/// facts   attributes.headrace of images/<id>/zarr.json
/// clevel  of the store's options
/// errors  malformed
SlidePlan plan_of_stored(const Json& facts, int clevel, const std::string& origin);

}  // namespace headrace::ingest
