#include "headrace/ingest/slide/slide_job.hpp"

#include <algorithm>
#include <cmath>
#include <mutex>
#include <optional>

#include "headrace/cohort/referenced_files.hpp"
#include "headrace/core/error.hpp"
#include "headrace/core/ordered_tasks.hpp"
#include "headrace/ingest/slide/slide_check.hpp"
#include "headrace/ingest/slide/slide_labels.hpp"
#include "headrace/ingest/slide/slide_metadata.hpp"
#include "headrace/ingest/slide/slide_pixels.hpp"
#include "headrace/ingest/store/label_group.hpp"
#include "headrace/ingest/store/recording_store.hpp"
#include "headrace/storage/open_store.hpp"

namespace headrace::ingest {
namespace {

SlideColour colour_of(const SlideContext& context, const std::shared_ptr<storage::Store>& store,
                      const std::string& id, const SlidePlan& plan,
                      const pixels::TissueMask& tissue) {
  const auto level = zarr::Array::open(store, fmt::format("images/{}/{}", id, plan.colour_level));
  return estimate_colour(level, tissue.mask,
                         std::int64_t{1} << (plan.tissue_level - plan.colour_level),
                         context.workspaces);
}

/// The table's pixel size holds; that the file's is another is said.
std::optional<imaging::Note> overruled_size(const SlideCase& slide,
                                            const imaging::SlideInfo& info) {
  constexpr double kRounded = 0.05;  // nominal sizes such as 0.25 for 0.2527
  if (!slide.mpp || !info.mpp_y || !info.mpp_x) return std::nullopt;
  const auto differs = [&](double file) { return std::abs(*slide.mpp - file) > kRounded * file; };
  if (!differs(*info.mpp_y) && !differs(*info.mpp_x)) return std::nullopt;
  return imaging::make_note(imaging::NoteCode::pixel_size_overruled,
                            {*slide.mpp, *info.mpp_y, *info.mpp_x});
}

FinishedImage run(const SlideContext& context, const SlideCase& slide, const SlideProbe& probe) {
  const SlidePlan& plan = probe.plan;
  const auto store = std::make_shared<RecordingStore>(context.store);
  const auto file = storage::open_input(slide.file);
  const auto reader = imaging::SlideReader::open(file);
  const LevelSize size = plan.levels[0].size;

  SlidePixels pixels(context, store, slide.id, plan, *reader);
  std::optional<StagedLabels> staged;
  std::unique_ptr<SlideLabels> labels;
  if (!slide.annotation.empty()) {
    staged.emplace(context.store, slide.id, kLabelName);
    labels = std::make_unique<SlideLabels>(
        staged->store(), kLabelName, staged->folder(), plan, context.classes,
        LabelSource::open(slide, context.classes, plan.canvas(), probe.mask), context.pool,
        context.buffers);
  }
  pixels.prepare();
  const std::size_t pixel_tasks = pixels.tasks();
  run_in_order(context.pool, pixel_tasks + (labels ? labels->tasks() : 0),
               static_cast<std::size_t>(context.pool.size()), [&](std::size_t i) {
                 if (i < pixel_tasks) {
                   pixels.run(i);
                 } else {
                   labels->run(i - pixel_tasks);
                 }
               });
  pixels.finish();
  if (labels) labels->finish();

  const pixels::TissueMask tissue = pixels.tissue();
  const auto readable = cohort::with_sources(store, [&file](const std::string&) { return file; });
  SlideMetadata metadata{slide,
                         probe,
                         reader->info(),
                         tissue,
                         colour_of(context, readable, slide.id, plan, tissue),
                         reader->info().notes};
  if (auto note = overruled_size(slide, reader->info())) metadata.notes.push_back(std::move(*note));
  for (auto& note :
       check_slide(plan, pixels.low(), tissue, metadata.colour, [&](std::size_t level) {
         return zarr::Array::open(readable, fmt::format("images/{}/{}", slide.id, level));
       }))
    metadata.notes.push_back(std::move(note));
  write_masks(*store, metadata);
  write_tissue_cells(*store, slide.id, plan.cell_px,
                     tissue_cells(tissue.mask, std::int64_t{1} << plan.tissue_level, size.height,
                                  size.width, plan.cell_px));
  write_image_group(*store, metadata);

  FinishedImage finished;
  finished.id = slide.id;
  finished.fingerprint = probe.fingerprint;
  finished.objects = store->entries();
  if (staged) {
    finished.labels[kLabelName] = staged->finish();
    remember_group(*context.store, slide.id, probe.label_fingerprint,
                   finished.labels[kLabelName].group);
  }
  finished.label_fingerprint = probe.label_fingerprint;
  finished.facts = {{"od", moments_json(metadata.colour.moments)}};
  finished.pixel_bytes = probe.pixel_bytes;
  finished.source_bytes = probe.stamp.size_bytes;
  finished.passthrough_bytes = pixels.passthrough_bytes();
  finished.dropped_chunks = pixels.dropped_chunks();
  return finished;
}

}  // namespace

FinishedImage ingest_slide(const SlideContext& context, const SlideCase& slide,
                           const SlideProbe& probe) {
  return with_context(slide.where.empty() ? "image " + slide.id : slide.where,
                      [&] { return run(context, slide, probe); });
}

}  // namespace headrace::ingest
