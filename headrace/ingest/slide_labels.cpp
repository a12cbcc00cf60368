#include "headrace/ingest/slide_labels.hpp"

#include "headrace/core/error.hpp"

namespace headrace::ingest {

SlideLabels::SlideLabels(const SlideContext& context, std::shared_ptr<RecordingStore> store,
                         const std::string& id, const SlidePlan& plan,
                         std::unique_ptr<LabelSource> source, CellCounts& cells)
    : context_(context),
      source_(std::move(source)),
      cells_(cells),
      cascade_(plan.sizes(), plan.shard, context.buffers, [this](const CascadeTile& tile) {
        if (tile.level == 0) cells_.add_labels(tile.box, tile.pixels);
        writers_[static_cast<std::size_t>(tile.level)]->write_shard(
            {tile.index.y, tile.index.x}, reinterpret_cast<const std::byte*>(tile.pixels),
            {tile.box.width, 1}, &context_.pool);
      }) {
  for (int k = 0; k < static_cast<int>(plan.levels.size()); ++k) {
    writers_.push_back(std::make_unique<zarr::ArrayWriter>(
        store, fmt::format("images/{}/labels/{}/{}", id, kLabelName, k), plan.label_array(k)));
  }
}

void SlideLabels::run(std::size_t task) {
  const TileIndex index = cascade_.base_tiles()[task];
  const Box2 box = cascade_.box(0, index);
  BufferPool::Lease labels =
      context_.buffers.take(static_cast<std::size_t>(box.height * box.width));
  source_->read(box, labels.data());
  cascade_.deliver(index, std::move(labels));
}

void SlideLabels::finish() {
  for (const auto& writer : writers_) writer->finish();
}

}  // namespace headrace::ingest
