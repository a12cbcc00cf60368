#include "learn/process/device_files.hpp"

#include <algorithm>
#include <cstring>
#include <mutex>

#include "headrace/core/error.hpp"
#include "headrace/core/limited_pool.hpp"
#include "headrace/core/ordered_tasks.hpp"
#include "headrace/core/rounding.hpp"
#include "learn/process/device_image.hpp"
#include "learn/process/regions.hpp"

namespace headrace::process {
namespace {

// Bytes that a thread reads at once: large reads, but little of the GPU's memory.
constexpr std::uint64_t kStagingBytes = 16 << 20;
// JPEGs of a call: enough for all engines, and for kernels to be busy.
constexpr std::size_t kJpegs = 64;
constexpr std::size_t kDecoders = 4;  // each holds memory of nvJPEG

// Area of a workspace: what files are read into, and written from.
constexpr std::size_t kStaging = 0;

struct Place {
  std::int64_t row, column;
};

/// Blocks that follow each other in one file.
struct Run {
  std::string path;  ///< empty: blocks that the source reads
  std::uint64_t offset = 0;
  std::vector<Place> blocks;
};

std::int64_t count(std::int64_t extent, std::int64_t edge) { return (extent + edge - 1) / edge; }

/// In the order of the image, so that neighbours are also read close in time.
std::vector<Run> runs_of(const ImageInfo& info, const StoredPixels& stored) {
  const auto most = std::max<std::uint64_t>(1, kStagingBytes / stored.block_bytes);
  std::vector<Run> runs;
  for (std::int64_t row = 0; row < count(info.height, stored.block_height); ++row) {
    for (std::int64_t column = 0; column < count(info.width, stored.block_width); ++column) {
      const StoredPixels::Block block = stored.block(row, column);
      const bool goes_on =
          !runs.empty() && !block.path.empty() && runs.back().path == block.path &&
          runs.back().blocks.size() < most &&
          runs.back().offset + runs.back().blocks.size() * stored.block_bytes == block.offset;
      if (!goes_on) runs.push_back({block.path, block.offset, {}});
      runs.back().blocks.push_back({row, column});
    }
  }
  return runs;
}

Box2 box_of(const ImageInfo& info, const Place& place, std::int64_t height, std::int64_t width) {
  const std::int64_t y = place.row * height, x = place.column * width;
  return {y, x, std::min(height, info.height - y), std::min(width, info.width - x)};
}

PlacePixels placing(const ImageInfo& info, const Box2& box, const std::uint8_t* from,
                    std::uint8_t* pixels) {
  PlacePixels pass;
  const std::int64_t channels = info.channels, row = info.width * channels;
  pass.from.data = from;
  pass.to = {pixels + box.y0 * row + box.x0 * channels, 1, row, channels};
  pass.channels = info.channels;
  pass.height = pass.stored_height = static_cast<std::int32_t>(box.height);
  pass.width = pass.stored_width = static_cast<std::int32_t>(box.width);
  return pass;
}

/// Brings a block that the source reads into its place.
void read_by_source(const ImageSource& source, const Box2& box, Workspace& workspace,
                    std::uint8_t* pixels) {
  const std::int64_t channels = source.info().channels, row = source.info().width * channels;
  const std::int64_t pitch = box.width * channels;
  std::uint8_t* host = workspace.on_host(static_cast<std::size_t>(box.height * pitch));
  source.read(box, host, pitch);
  workspace.queue().to_device(pixels + box.y0 * row + box.x0 * channels, row, host, pitch, pitch,
                              box.height);
  workspace.queue().wait();
}

/// Runs numbered work on the pool, each thread with a workspace and its staging area of the device.
/// Returns the workspaces when all is done.
template <typename Body>
std::vector<Workspace> run_staged(ThreadPool& pool, Accelerator& accelerator, std::size_t tasks,
                                  std::size_t most_threads, std::size_t staging_wanted,
                                  const Body& body) {
  // cuFile takes memory at multiples of 4 KiB without a copy.
  const auto staging_bytes =
      static_cast<std::size_t>(round_up(static_cast<std::int64_t>(staging_wanted), 4096));
  const std::size_t workers = std::min(
      {static_cast<std::size_t>(pool.size()), std::max<std::size_t>(tasks, 1), most_threads});
  const device::Memory staging =
      device_memory_for(accelerator, workers * staging_bytes, "reading and writing");
  LimitedPool<Workspace> workspaces;
  for (std::size_t i = 0; i < workers; ++i) {
    Workspace workspace(accelerator);
    workspace.set_area(kStaging, {staging, staging.get() + i * staging_bytes}, staging_bytes);
    workspaces.put(std::move(workspace));
  }
  run_in_order(pool, tasks, workers, [&](std::size_t i) {
    LimitedPool<Workspace>::Lease workspace(workspaces);
    body(*workspace, workspace->on_device(kStaging, staging_bytes), i);
  });
  for (Workspace& workspace : workspaces.idle()) workspace.queue().wait();
  return std::move(workspaces.idle());
}

/// "cuFile" where all threads used it, else the first other way.
std::string way_of(const std::vector<Workspace>& workspaces,
                   std::string (AcceleratorQueue::*way)() const) {
  std::string found;
  for (const Workspace& workspace : workspaces) {
    const std::string one = (workspace.queue().*way)();
    if (found.empty() || one != "cuFile") found = one;
  }
  return found;
}

}  // namespace

std::string load_stored(const ImageSource& source, const StoredPixels& stored, ThreadPool& pool,
                        Accelerator& accelerator, std::uint8_t* pixels) {
  const ImageInfo& info = source.info();
  const std::vector<Run> runs = runs_of(info, stored);
  const std::size_t wanted = std::max<std::uint64_t>(kStagingBytes, stored.block_bytes);
  const auto workspaces = run_staged(
      pool, accelerator, runs.size(), runs.size(), wanted,
      [&](Workspace& workspace, std::uint8_t* staging, std::size_t i) {
        const Run& run = runs[i];
        if (!run.path.empty()) {
          const storage::DeviceRange range{run.offset, run.blocks.size() * stored.block_bytes,
                                           reinterpret_cast<std::byte*>(staging)};
          workspace.queue().read_file(run.path, {&range, 1});
        }
        for (std::size_t k = 0; k < run.blocks.size(); ++k) {
          const Box2 box = box_of(info, run.blocks[k], stored.block_height, stored.block_width);
          if (run.path.empty()) {
            read_by_source(source, box, workspace, pixels);
            continue;
          }
          PlacePixels pass = placing(info, box, staging + k * stored.block_bytes, pixels);
          pass.from.channel = stored.channel_bytes;
          pass.from.row = stored.row_bytes;
          pass.from.pixel = stored.pixel_bytes;
          workspace.queue().run(StoredPass(pass));
        }
      });
  return way_of(workspaces, &AcceleratorQueue::read_by);
}

namespace {

/// Tiles of one call, by their places.
struct TileBatch {
  std::vector<Place> places;
  std::vector<JpegTile> jpegs;
  std::vector<std::byte> bytes;
};

/// Which tiles the CPU decoded after all. Of all threads.
class LeftTiles {
 public:
  void add(std::size_t tiles, const std::string& why) {
    const std::lock_guard lock(mutex_);
    tiles_ += tiles;
    if (why_.empty()) why_ = why;
  }
  std::string of(std::size_t all) const {
    if (tiles_ == 0) return "nvJPEG";
    return fmt::format("nvJPEG, {} of {} tiles by the CPU: {}", tiles_, all, why_);
  }

 private:
  std::mutex mutex_;
  std::size_t tiles_ = 0;
  std::string why_;
};

}  // namespace

std::string load_jpegs(const ImageSource& source, const JpegBlocks& blocks, ThreadPool& pool,
                       Accelerator& accelerator, std::uint8_t* pixels) {
  const ImageInfo& info = source.info();
  const std::int64_t across = count(info.width, blocks.block_width);
  const auto tiles = static_cast<std::size_t>(across * count(info.height, blocks.block_height));
  const auto tile_bytes = static_cast<std::size_t>(3 * blocks.block_height * blocks.block_width);
  const auto box = [&](const Place& place) {
    return box_of(info, place, blocks.block_height, blocks.block_width);
  };
  LeftTiles left_tiles;
  run_staged(
      pool, accelerator, (tiles + kJpegs - 1) / kJpegs, kDecoders, kJpegs * tile_bytes,
      [&](Workspace& workspace, std::uint8_t* staging, std::size_t number) {
        TileBatch batch;
        for (std::size_t i = number * kJpegs; i < std::min(tiles, (number + 1) * kJpegs); ++i) {
          const Place place{static_cast<std::int64_t>(i) / across,
                            static_cast<std::int64_t>(i) % across};
          const std::vector<std::byte> jpeg = blocks.block(place.row, place.column);
          if (jpeg.empty()) {
            read_by_source(source, box(place), workspace, pixels);
            continue;
          }
          batch.jpegs.push_back({batch.bytes.size(), jpeg.size(), batch.places.size() * tile_bytes,
                                 static_cast<std::int32_t>(blocks.block_height),
                                 static_cast<std::int32_t>(blocks.block_width)});
          batch.bytes.insert(batch.bytes.end(), jpeg.begin(), jpeg.end());
          batch.places.push_back(place);
        }
        if (batch.jpegs.empty()) return;
        std::uint8_t* host = workspace.on_host(batch.bytes.size());
        std::memcpy(host, batch.bytes.data(), batch.bytes.size());
        std::string why;
        const std::vector<std::size_t> left =
            workspace.queue().decode(batch.jpegs, host, staging, why);
        for (std::size_t k = 0; k < batch.places.size(); ++k) {
          if (std::binary_search(left.begin(), left.end(), k)) continue;
          PlacePixels pass =
              placing(info, box(batch.places[k]), staging + batch.jpegs[k].decoded, pixels);
          pass.from.channel = 1;
          pass.from.row = 3 * blocks.block_width;
          pass.from.pixel = 3;
          workspace.queue().run(StoredPass(pass));
        }
        workspace.queue().wait();  // the JPEGs are being read until then
        for (const std::size_t k : left) {
          read_by_source(source, box(batch.places[k]), workspace, pixels);
        }
        if (!left.empty()) left_tiles.add(left.size(), why);
      });
  return left_tiles.of(tiles);
}

std::string store_chunks(const ImageInfo& info, const Operation& operation,
                         const std::uint8_t* result, ImageSink& sink, std::int64_t chunk,
                         ThreadPool& pool, Accelerator& accelerator) {
  const auto item = static_cast<std::int64_t>(size_of(operation.dtype()));
  const std::int64_t plane = chunk * chunk * item, row = info.width * item;
  const auto bytes = static_cast<std::size_t>(plane * operation.channels());
  constexpr std::size_t kFlag = 256;  // after a chunk lies the flag whether it is all zero
  const std::int64_t across = count(info.width, chunk);
  const auto chunks = static_cast<std::size_t>(across * count(info.height, chunk));
  const auto workspaces = run_staged(
      pool, accelerator, chunks, chunks, bytes + kFlag,
      [&](Workspace& workspace, std::uint8_t* staging, std::size_t i) {
        const Place place{static_cast<std::int64_t>(i) / across,
                          static_cast<std::int64_t>(i) % across};
        if (sink.has(place.row, place.column)) return;
        const Box2 box = box_of(info, place, chunk, chunk);
        PlacePixels pass;
        pass.from = {result + box.y0 * row + box.x0 * item, info.height * row, row, item};
        pass.to = {staging, plane, chunk * item, item};
        pass.channels = operation.channels();
        pass.item = static_cast<std::int32_t>(item);
        pass.height = pass.width = static_cast<std::int32_t>(chunk);
        pass.stored_height = static_cast<std::int32_t>(box.height);
        pass.stored_width = static_cast<std::int32_t>(box.width);
        workspace.queue().run(StoredPass(pass));
        workspace.queue().clear(staging + bytes, 1);
        workspace.queue().run(
            StoredPass(FindNonZero{staging, static_cast<std::int64_t>(bytes), staging + bytes}));
        std::uint8_t* found = workspace.on_host(1);
        workspace.queue().to_host(found, 1, staging + bytes, 1, 1, 1);
        workspace.queue().wait();
        if (*found == 0) {
          sink.write_zeros(place.row, place.column);
        } else {
          sink.write_file(place.row, place.column, bytes, [&](const std::string& path) {
            workspace.queue().write_file(path, staging, bytes);
          });
        }
      });
  return way_of(workspaces, &AcceleratorQueue::written_by);
}

}  // namespace headrace::process
