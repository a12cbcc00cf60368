#pragma once
#include <string>
#include <vector>

#include "headrace/ingest/slide/colour_statistics.hpp"
#include "headrace/ingest/slide/slide_job.hpp"
#include "headrace/pixels/tissue/tissue_mask.hpp"

namespace headrace::ingest {

/// All that the metadata of an image states: an allow-list. Nothing else of a slide file enters the
/// store.
struct SlideMetadata {
  const SlideCase& slide;
  const SlideProbe& probe;
  const imaging::SlideInfo& info;
  const pixels::TissueMask& tissue;
  SlideColour colour;
  std::vector<imaging::Note> notes;  ///< of the source and its pixels
};

/// What a version states about an image besides its pixels and labels: another allow-list.
Json columns_of(const SlideCase& slide, const std::string& scanner);

/// images/<id>/masks/tissue and, when there is one, images/<id>/icc_profile.
void write_masks(storage::Store& store, const SlideMetadata& metadata);
/// The groups' zarr.json: images/<id>/zarr.json last.
void write_image_group(storage::Store& store, const SlideMetadata& metadata);

}  // namespace headrace::ingest
