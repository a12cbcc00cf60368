#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "headrace/core/threads.hpp"
#include "headrace/device/buffer.hpp"
#include "headrace/imaging/source_stamp.hpp"
#include "headrace/ingest/run/finished_image.hpp"
#include "headrace/ingest/slide/ingest_slides.hpp"
#include "headrace/ingest/slide/mask_facts.hpp"
#include "headrace/ingest/slide/slide_case.hpp"
#include "headrace/ingest/slide/slide_plan.hpp"
#include "headrace/pixels/statistics/statistics_workspaces.hpp"
#include "headrace/storage/store.hpp"

namespace headrace::ingest {

/// What the slides of one run share.
struct SlideContext {
  std::shared_ptr<storage::Store> store;
  const SlideIngestOptions& options;
  const std::vector<std::string>& classes;
  ThreadPool& pool;
  device::BufferPool& buffers;
  std::function<void(std::uint64_t)> advance;  ///< called with the pixel bytes of each finished
                                               ///< part
  pixels::StatisticsWorkspaces* workspaces =
      nullptr;  ///< workspaces of a device that gathers statistics; null: the CPU
};

/// An input that was examined, but not read yet.
struct SlideProbe {
  SlidePlan plan;
  imaging::SourceStamp stamp;
  std::string identity;           ///< of the file, as storage::Object states it
  std::string fingerprint;        ///< of what determines the pixels
  std::string label_fingerprint;  ///< of the annotation; empty: none
  std::string scanner;            ///< the table's, or else the format's name
  AnnotationCounts annotations;   ///< objects of its annotation that are not a class
  std::optional<MaskFacts> mask;  ///< of its annotation, where that is a mask image
  std::uint64_t pixel_bytes = 0;
  std::uint64_t memory_bytes =
      0;  ///< estimate for its unfinished tiles, in addition to the tiles at work
};

/// Fingerprint of a case's annotation and of the options that decide how it is read; empty where
/// there is none. mask: settled, of a mask image.
std::string label_fingerprint(const SlideCase& slide, const std::vector<std::string>& classes,
                              const std::optional<MaskFacts>& mask);

/// Memory of the unfinished tiles of a slide's label image while it is written.
std::uint64_t unfinished_label_bytes(const SlidePlan& plan);

/// Opens a slide and its annotation, and plans the ingest. Errors: as SlideReader::open and
/// plan_slide, each with the table's line and the file.
SlideProbe look_at(const SlideCase& slide, const std::vector<std::string>& classes,
                   const SlideIngestOptions& options);

/// Reads a slide once and stores everything that belongs to it; the image group's zarr.json comes
/// last. Errors: as of the readers and the store, with the file's name.
FinishedImage ingest_slide(const SlideContext& context, const SlideCase& slide,
                           const SlideProbe& probe);

}  // namespace headrace::ingest
