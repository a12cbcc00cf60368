#pragma once
#include <memory>
#include <string>
#include <vector>

#include "headrace/ingest/cell_index.hpp"
#include "headrace/ingest/label_source.hpp"
#include "headrace/ingest/ome_metadata.hpp"
#include "headrace/ingest/pick_cascade.hpp"
#include "headrace/ingest/recording_store.hpp"
#include "headrace/ingest/slide_job.hpp"
#include "headrace/zarr/array_writer.hpp"

namespace headrace::ingest {

/// Stores the label pyramid of one slide and counts classes for the sampler's index. Tasks as of
/// SlidePixels.
class SlideLabels {
 public:
  SlideLabels(const SlideContext& context, std::shared_ptr<RecordingStore> store,
              const std::string& id, const SlidePlan& plan, std::unique_ptr<LabelSource> source,
              CellCounts& cells);

  std::size_t tasks() const noexcept { return cascade_.base_tiles().size(); }
  void run(std::size_t task);
  /// Writes the arrays' metadata. Call it when all tasks are done.
  void finish();

 private:
  const SlideContext& context_;
  std::unique_ptr<LabelSource> source_;
  CellCounts& cells_;
  std::vector<std::unique_ptr<zarr::ArrayWriter>> writers_;
  PickCascade cascade_;
};

}  // namespace headrace::ingest
