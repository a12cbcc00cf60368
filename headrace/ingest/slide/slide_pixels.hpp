#pragma once
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "headrace/imaging/slide/slide_reader.hpp"
#include "headrace/imaging/tiff/encoded_tiles.hpp"
#include "headrace/ingest/slide/cascade.hpp"
#include "headrace/ingest/slide/slide_job.hpp"
#include "headrace/ingest/store/recording_store.hpp"
#include "headrace/pixels/tissue/tissue_mask.hpp"
#include "headrace/zarr/array_writer.hpp"

namespace headrace::ingest {

/// Stores the pyramid of one slide: copies JPEG tiles, or reads pixels once and averages them down.
/// Its work is a list of tasks, one for each shard, that may run on any thread; start them in
/// order, so that few tiles are unfinished at a time.
class SlidePixels {
 public:
  SlidePixels(const SlideContext& context, std::shared_ptr<RecordingStore> store,
              const std::string& id, const SlidePlan& plan, const imaging::SlideReader& reader);
  ~SlidePixels();

  /// With the option drop_glass: finds the tissue first, by a pass that stores nothing.
  void prepare();
  std::size_t tasks() const noexcept { return tasks_.size(); }
  void run(std::size_t task);
  /// Writes the arrays' metadata. Call it when all tasks are done.
  void finish();

  const pixels::TissueMask& tissue() const noexcept { return tissue_; }
  /// The pixels of its level. After finish().
  const pixels::Image8& low() const noexcept { return low_; }
  std::uint64_t passthrough_bytes() const noexcept { return passthrough_bytes_; }
  std::uint64_t dropped_chunks() const noexcept { return dropped_chunks_; }

 private:
  struct Task {
    int level = -1;       ///< copy a shard of this level …
    std::size_t run = 0;  ///< … or, when that is -1, read a base tile of this run
    TileIndex index;
  };
  void add_copies(int level);
  void add_run(std::size_t run);
  void copy_shard(int level, TileIndex index);
  device::BufferPool::Lease read_tile(int level, const Box2& box) const;
  void store_tile(const LevelRun& run, const CascadeTile& tile);
  void keep_for_tissue(const CascadeTile& tile, int level);
  void whiten_glass(const Box2& box, std::uint8_t* pixels);

  const SlideContext& context_;
  std::shared_ptr<storage::Store> store_;
  std::string id_;
  const SlidePlan& plan_;
  const imaging::SlideReader& reader_;
  std::vector<std::unique_ptr<zarr::ArrayWriter>> writers_;
  std::vector<std::unique_ptr<AverageCascade>> cascades_;
  std::vector<Task> tasks_;
  pixels::Image8 low_;        ///< pixels of the tissue level
  pixels::Mask near_tissue_;  ///< where glass is not dropped
  pixels::TissueMask tissue_;
  std::atomic<std::uint64_t> passthrough_bytes_{0}, dropped_chunks_{0};
};

}  // namespace headrace::ingest
