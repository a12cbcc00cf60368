#pragma once
#include <memory>
#include <string>
#include <vector>

#include "headrace/core/threads.hpp"
#include "headrace/device/buffer.hpp"
#include "headrace/ingest/slide/cell_index.hpp"
#include "headrace/ingest/slide/label_source.hpp"
#include "headrace/ingest/slide/ome_slide.hpp"
#include "headrace/ingest/slide/pick_cascade.hpp"
#include "headrace/ingest/slide/slide_plan.hpp"
#include "headrace/ingest/slide/slide_sites.hpp"
#include "headrace/zarr/array_writer.hpp"

namespace headrace::ingest {

/// Stores everything of one label image of a slide, which lies below its own group: the pyramid and
/// the classes' part of the sampler's index (cells, sites). It needs only the slide's plan, no
/// pixels. Tasks as in SlidePixels.
class SlideLabels {
 public:
  /// set: name of the label set; group: path of its group. References must outlive this object.
  SlideLabels(std::shared_ptr<storage::Store> store, std::string set, std::string group,
              const SlidePlan& plan, const std::vector<std::string>& classes,
              std::unique_ptr<LabelSource> source, ThreadPool& pool, device::BufferPool& buffers);

  std::size_t tasks() const noexcept { return cascade_.base_tiles().size(); }
  void run(std::size_t task);
  /// Writes the arrays' metadata, the index, and last the group's zarr.json. Call it when all tasks
  /// are done.
  void finish();

 private:
  std::shared_ptr<storage::Store> store_;
  std::string set_, group_;
  const SlidePlan& plan_;
  const std::vector<std::string>& classes_;
  std::unique_ptr<LabelSource> source_;
  ThreadPool& pool_;
  device::BufferPool& buffers_;
  LabelCells cells_;
  SlideSites sites_;
  std::vector<std::unique_ptr<zarr::ArrayWriter>> writers_;
  PickCascade cascade_;
};

}  // namespace headrace::ingest
