#pragma once
#include <memory>
#include <string>

#include "headrace/imaging/tiff/encoded_tiles.hpp"
#include "headrace/ingest/slide/slide_plan.hpp"
#include "headrace/storage/store.hpp"

namespace headrace::ingest {

/// Why the pixels of a slide can't be taken by reference; empty where they can. tiles: null where
/// the file has none that readers know.
std::string why_no_reference(const imaging::SlideInfo& info, const imaging::EncodedTiles* tiles);

/// Of a plan whose tiles would be copied: which levels the file has, which are averaged when they
/// are read, and which are kept (docs/formats.md, "Pixels by reference").
void take_by_reference(SlidePlan& plan);

/// Writes the levels that have no pixels of their own: tables of tiles, and averages. Errors:
/// corrupt (a tile that reaches past the end of the file), io.
void write_references(const std::shared_ptr<storage::Store>& store, const std::string& id,
                      const SlidePlan& plan, const imaging::EncodedTiles& tiles);

}  // namespace headrace::ingest
