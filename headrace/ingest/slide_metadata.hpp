#pragma once
#include <string>
#include <vector>

#include "headrace/ingest/colour_statistics.hpp"
#include "headrace/ingest/slide_job.hpp"
#include "headrace/ingest/tissue/tissue_mask.hpp"

namespace headrace::ingest {

/// All that the metadata of an image states: an allow-list. Nothing else of a slide file enters the
/// store.
struct SlideFacts {
  const SlideCase& slide;
  const SlideOutlook& outlook;
  const imaging::SlideInfo& info;
  const TissueMask& tissue;
  SlideColour colour;
};

/// What a version states about an image besides its pixels and labels: another allow-list.
Json columns_of(const SlideCase& slide, const std::string& scanner);

/// images/<id>/masks/tissue and, when there is one, images/<id>/icc_profile.
void write_masks(storage::Store& store, const SlideFacts& facts);
/// The groups' zarr.json: images/<id>/zarr.json last.
void write_image_group(storage::Store& store, const SlideFacts& facts);

}  // namespace headrace::ingest
