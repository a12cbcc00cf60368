#pragma once
#include <string>
#include <vector>

#include "headrace/ingest/cell_index.hpp"
#include "headrace/ingest/colour_statistics.hpp"
#include "headrace/ingest/slide_job.hpp"
#include "headrace/ingest/tissue/tissue_mask.hpp"

namespace headrace::ingest {

/// All that the metadata of an image says: an allow-list. Nothing else of a slide file enters the
/// store.
struct SlideFacts {
  const SlideCase& slide;
  const SlideOutlook& outlook;
  const imaging::SlideInfo& info;
  const TissueMask& tissue;
  SlideColour colour;
  bool labelled = false;
};

/// images/<id>/masks/tissue and, when there is one, images/<id>/icc_profile.
void write_masks(storage::Store& store, const SlideFacts& facts);
/// index/<id>
void write_index(storage::Store& store, const std::string& id, std::int64_t cell_px,
                 const CellCounts& cells);
/// The groups' zarr.json: labels first, images/<id>/zarr.json last.
void write_image_group(storage::Store& store, const SlideFacts& facts,
                       const std::vector<std::string>& classes);

}  // namespace headrace::ingest
