#include "headrace/ingest/slide/slide_pixels.hpp"

#include <algorithm>
#include <cstring>

#include "headrace/core/crc32c.hpp"
#include "headrace/core/error.hpp"
#include "headrace/core/ordered_tasks.hpp"
#include "headrace/ingest/slide/slide_references.hpp"
#include "headrace/pixels/tissue/morphology.hpp"

namespace headrace::ingest {
namespace {

// Rows that one thread reads at a time: a multiple of every usual tile height.
constexpr std::int64_t kReadRows = 512;

/// Appends to a copied tile the checksum that the codec crc32c of its array expects.
void add_checksum(std::vector<std::byte>& tile) {
  const std::uint32_t checksum = crc32c(tile);
  const auto bytes = std::as_bytes(std::span(&checksum, 1));
  tile.insert(tile.end(), bytes.begin(), bytes.end());
}

}  // namespace

SlidePixels::SlidePixels(const SlideContext& context, std::shared_ptr<RecordingStore> store,
                         const std::string& id, const SlidePlan& plan,
                         const imaging::SlideReader& reader)
    : context_(context), store_(store), id_(id), plan_(plan), reader_(reader) {
  for (int k = 0; k < static_cast<int>(plan.levels.size()); ++k) {
    writers_.push_back(std::make_unique<zarr::ArrayWriter>(
        store, fmt::format("images/{}/{}", id, k), plan.image_array(k)));
    writers_.back()->align_chunks(plan.align);
    if (plan.levels[static_cast<std::size_t>(k)].tiles_level && !plan.by_reference) add_copies(k);
  }
  for (std::size_t r = 0; r < plan.runs.size(); ++r) add_run(r);
  const LevelSize& size = plan.levels[static_cast<std::size_t>(plan.tissue_level)].size;
  low_ = pixels::Image8(size.height, size.width, 3);
}

SlidePixels::~SlidePixels() = default;

void SlidePixels::add_copies(int level) {
  const LevelSize& size = plan_.levels[static_cast<std::size_t>(level)].size;
  const auto count = [&](std::int64_t edge) { return (edge + plan_.shard - 1) / plan_.shard; };
  for (const TileIndex& index : tiles_in_z_order(count(size.height), count(size.width))) {
    tasks_.push_back({level, 0, index});
  }
}

void SlidePixels::add_run(std::size_t run) {
  const LevelRun& levels = plan_.runs[run];
  const auto sizes = plan_.sizes();
  const std::vector<LevelSize> covered(sizes.begin() + levels.first,
                                       sizes.begin() + levels.last + 1);
  cascades_.push_back(std::make_unique<AverageCascade>(
      covered, plan_.shard, 3, context_.buffers,
      [this, &levels](const CascadeTile& tile) { store_tile(levels, tile); }));
  for (const TileIndex& index : cascades_.back()->base_tiles()) tasks_.push_back({-1, run, index});
}

void SlidePixels::prepare() {
  const auto level = static_cast<std::size_t>(plan_.tissue_level);
  if (!context_.options.drop_glass) return;
  const auto sizes = plan_.sizes();
  AverageCascade cascade({sizes.begin(), sizes.begin() + plan_.tissue_level + 1}, plan_.shard, 3,
                         context_.buffers,
                         [&](const CascadeTile& tile) { keep_for_tissue(tile, tile.level); });
  run_in_order(context_.pool, cascade.base_tiles().size(),
               static_cast<std::size_t>(context_.pool.size()), [&](std::size_t i) {
                 const TileIndex index = cascade.base_tiles()[i];
                 cascade.deliver(index, read_tile(0, cascade.box(0, index)));
               });
  tissue_ = pixels::find_tissue(low_, context_.workspaces);
  near_tissue_ = dilate(tissue_.mask, 1);
  low_ = pixels::Image8(sizes[level].height, sizes[level].width, 3);
}

void SlidePixels::run(std::size_t task) {
  const Task& what = tasks_[task];
  if (what.level >= 0) {
    copy_shard(what.level, what.index);
    return;
  }
  AverageCascade& cascade = *cascades_[what.run];
  const Box2 box = cascade.box(0, what.index);
  const LevelRun& levels = plan_.runs[what.run];
  device::BufferPool::Lease pixels = read_tile(levels.first, box);
  if (context_.options.drop_glass && levels.first == 0) whiten_glass(box, pixels.data());
  cascade.deliver(what.index, std::move(pixels));
}

device::BufferPool::Lease SlidePixels::read_tile(int level, const Box2& box) const {
  device::BufferPool::Lease pixels =
      context_.buffers.take(static_cast<std::size_t>(3 * box.height * box.width));
  const int source = *plan_.levels[static_cast<std::size_t>(level)].reader_level;
  const std::int64_t stride = 3 * box.width;
  context_.pool.parallel_for(
      static_cast<std::size_t>((box.height + kReadRows - 1) / kReadRows), [&](std::size_t i) {
        const std::int64_t y = static_cast<std::int64_t>(i) * kReadRows;
        reader_.read(source, box.y0 + y, box.x0, std::min(kReadRows, box.height - y), box.width,
                     pixels.data() + y * stride, stride);
      });
  return pixels;
}

void SlidePixels::store_tile(const LevelRun& run, const CascadeTile& tile) {
  const int level = run.first + tile.level;
  keep_for_tissue(tile, level);
  if (tile.level == 0 && !run.write_first) return;
  if (plan_.levels[static_cast<std::size_t>(level)].averaged) return;
  writers_[static_cast<std::size_t>(level)]->write_shard(
      {0, tile.index.y, tile.index.x}, reinterpret_cast<const std::byte*>(tile.pixels),
      {1, 3 * tile.box.width, 3}, &context_.pool);
  context_.advance(static_cast<std::uint64_t>(3 * tile.box.height * tile.box.width));
}

void SlidePixels::keep_for_tissue(const CascadeTile& tile, int level) {
  if (level != plan_.tissue_level) return;
  const auto row_bytes = static_cast<std::size_t>(3 * tile.box.width);
  for (std::int64_t y = 0; y < tile.box.height; ++y) {
    std::memcpy(low_.row(tile.box.y0 + y) + 3 * tile.box.x0, tile.pixels + y * 3 * tile.box.width,
                row_bytes);
  }
}

void SlidePixels::whiten_glass(const Box2& box, std::uint8_t* pixels) {
  for (std::int64_t y0 = 0; y0 < box.height; y0 += plan_.chunk) {
    for (std::int64_t x0 = 0; x0 < box.width; x0 += plan_.chunk) {
      const std::int64_t y1 = std::min(box.height, y0 + plan_.chunk),
                         x1 = std::min(box.width, x0 + plan_.chunk);
      const int k = plan_.tissue_level;
      bool tissue = false;
      for (std::int64_t y = (box.y0 + y0) >> k; !tissue && y <= (box.y0 + y1 - 1) >> k; ++y) {
        for (std::int64_t x = (box.x0 + x0) >> k; !tissue && x <= (box.x0 + x1 - 1) >> k; ++x) {
          tissue = near_tissue_.at(y, x) != 0;
        }
      }
      if (tissue) continue;
      ++dropped_chunks_;
      for (std::int64_t y = y0; y < y1; ++y) {
        std::memset(pixels + 3 * (y * box.width + x0), 255,
                    static_cast<std::size_t>(3 * (x1 - x0)));
      }
    }
  }
}

void SlidePixels::copy_shard(int level, TileIndex index) {
  const LevelPlan& plan = plan_.levels[static_cast<std::size_t>(level)];
  const auto shape = plan_.image_array(level).chunk_shape;
  const std::int64_t high = shape[1] / plan_.chunk, wide = shape[2] / plan_.chunk;
  const std::int64_t all_y = (plan.size.height + plan_.chunk - 1) / plan_.chunk;
  const std::int64_t all_x = (plan.size.width + plan_.chunk - 1) / plan_.chunk;
  std::vector<std::vector<std::byte>> bytes(static_cast<std::size_t>(high * wide));
  std::vector<std::span<const std::byte>> chunks(bytes.size());
  std::vector<imaging::TileNumber> numbers;
  std::vector<std::size_t> places;
  for (std::int64_t i = 0; i < high * wide; ++i) {
    const std::int64_t y = index.y * high + i / wide, x = index.x * wide + i % wide;
    if (y >= all_y || x >= all_x) continue;
    numbers.push_back({y, x});
    places.push_back(static_cast<std::size_t>(i));
  }
  auto tiles = reader_.encoded_tiles()->tiles(*plan.tiles_level, numbers);
  for (std::size_t k = 0; k < tiles.size(); ++k) {
    auto& tile = bytes[places[k]];
    tile = std::move(tiles[k]);
    passthrough_bytes_ += tile.size();
    if (!tile.empty()) add_checksum(tile);
    chunks[places[k]] = tile;
  }
  writers_[static_cast<std::size_t>(level)]->write_encoded_shard({0, index.y, index.x}, chunks);
  const std::int64_t y_px = std::min(shape[1], plan.size.height - index.y * shape[1]);
  const std::int64_t x_px = std::min(shape[2], plan.size.width - index.x * shape[2]);
  context_.advance(static_cast<std::uint64_t>(3 * y_px * x_px));
}

void SlidePixels::finish() {
  for (std::size_t k = 0; k < writers_.size(); ++k) {
    const LevelPlan& level = plan_.levels[k];
    if (!plan_.by_reference || !(level.averaged || level.tiles_level)) writers_[k]->finish();
  }
  if (plan_.by_reference) write_references(store_, id_, plan_, *reader_.encoded_tiles());
  if (context_.options.drop_glass) return;
  const LevelPlan& level = plan_.levels[static_cast<std::size_t>(plan_.tissue_level)];
  if (level.tiles_level) {
    reader_.read(*level.reader_level, 0, 0, level.size.height, level.size.width, low_.pixels.data(),
                 3 * level.size.width);
  }
  tissue_ = pixels::find_tissue(low_, context_.workspaces);
}

}  // namespace headrace::ingest
