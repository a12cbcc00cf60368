#include "headrace/ingest/slide/slide_labels.hpp"

#include <fmt/format.h>

#include "headrace/ingest/store/small_array.hpp"

namespace headrace::ingest {

SlideLabels::SlideLabels(std::shared_ptr<storage::Store> store, std::string set, std::string group,
                         const SlidePlan& plan, const std::vector<std::string>& classes,
                         std::unique_ptr<LabelSource> source, ThreadPool& pool,
                         device::BufferPool& buffers)
    : store_(std::move(store)),
      set_(std::move(set)),
      group_(std::move(group)),
      plan_(plan),
      classes_(classes),
      source_(std::move(source)),
      pool_(pool),
      buffers_(buffers),
      cells_(plan.levels[0].size.height, plan.levels[0].size.width, plan.cell_px, classes.size()),
      sites_(plan.levels[0].size.height, plan.levels[0].size.width, plan.cell_px),
      cascade_(plan.sizes(), plan.shard, buffers, [this](const CascadeTile& tile) {
        if (tile.level == 0) {
          cells_.add(tile.box, tile.pixels);
          sites_.add(tile.box, tile.pixels);
        }
        writers_[static_cast<std::size_t>(tile.level)]->write_shard(
            {tile.index.y, tile.index.x}, reinterpret_cast<const std::byte*>(tile.pixels),
            {tile.box.width, 1}, &pool_);
      }) {
  for (int k = 0; k < static_cast<int>(plan.levels.size()); ++k) {
    writers_.push_back(std::make_unique<zarr::ArrayWriter>(store_, fmt::format("{}/{}", group_, k),
                                                           plan.label_array(k)));
  }
}

void SlideLabels::run(std::size_t task) {
  const TileIndex index = cascade_.base_tiles()[task];
  const Box2 box = cascade_.box(0, index);
  device::BufferPool::Lease labels =
      buffers_.take(static_cast<std::size_t>(box.height * box.width));
  source_->read(box, labels.data());
  cascade_.deliver(index, std::move(labels));
}

void SlideLabels::finish() {
  for (const auto& writer : writers_) writer->finish();
  cells_.write(*store_, group_);
  write_sites(*store_, group_, sites_.grid(), 2, sites_.blocks());
  // Only classes that occur, so that classes that the store gets later change nothing here.
  const std::vector<std::string> seen(
      classes_.begin(), classes_.begin() + static_cast<std::ptrdiff_t>(cells_.classes_seen()));
  Json attributes{{"ome", ome_label(plan_, set_, seen)}};
  if (const auto notes = source_->notes(); !notes.empty())
    attributes["headrace"] = {{"notes", imaging::to_json(notes)}};
  write_group(*store_, group_, attributes);
}

}  // namespace headrace::ingest
