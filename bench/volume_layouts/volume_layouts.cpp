// Measures layouts of a volume: the cost of chunks, shards, compressor, filter and blocks in
// writing, storing and reading random 96³ patches. The table "Defaults for volumes" of
// docs/formats.md was made with it.
//
//   bench_volume_layouts CT.npy FOLDER ROUNDS LAYOUT...     a layout is a JSON object, keys left
//   out have the default:
//     {"chunk": [32,32,32], "shard": 192, "cname": "lz4hc", "clevel": 5, "shuffle": "bitshuffle",
//     "blocksize": 16384, "crc32c": false}
//
// One JSON line a layout: MB stored, MB/s written, and of 64 reads (one thread, warm) the CPU
// milliseconds a read, best and median of the rounds. The rounds of all layouts take turns, so that
// other work on the machine affects all of them.
#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <vector>

#include "bench/npy_volume.hpp"
#include "headrace/core/error.hpp"
#include "headrace/storage/open_store.hpp"
#include "headrace/zarr/array.hpp"
#include "headrace/zarr/array_writer.hpp"

namespace {

using namespace headrace;
using bench::Volume;
namespace fs = std::filesystem;

constexpr std::int64_t kPatch = 96;
constexpr int kPatches = 64;
constexpr std::uint64_t kSeed = 404;  // bench/volume_read/work.py draws the same positions

double thread_cpu_s() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

struct Layout {
  Json settings;
  std::shared_ptr<const zarr::Array> array;
  double written_mb_per_s = 0, stored_mb = 0;
  std::vector<double> read_ms;
};

zarr::ArrayMetadata metadata_of(const Json& s, const Volume& volume) {
  zarr::ArrayMetadata m;
  m.shape = volume.shape;
  m.dtype = DType::int16;
  m.fill_value = {std::byte{0x00}, std::byte{0xfc}};  // -1024
  const auto chunk = s.value("chunk", std::vector<std::int64_t>{32, 32, 32});
  const auto shard = s.value("shard", std::int64_t{192});
  for (const std::int64_t edge : chunk)
    m.chunk_shape.push_back(std::max<std::int64_t>(1, shard / edge) * edge);
  Json inner = Json::array({{{"name", "bytes"}, {"configuration", {{"endian", "little"}}}}});
  inner.push_back({{"name", "blosc"},
                   {"configuration",
                    {{"cname", s.value("cname", "lz4hc")},
                     {"clevel", s.value("clevel", 5)},
                     {"shuffle", s.value("shuffle", "bitshuffle")},
                     {"typesize", 2},
                     {"blocksize", s.value("blocksize", 16384)}}}});
  if (s.value("crc32c", false)) inner.push_back({{"name", "crc32c"}});
  m.codecs = zarr::Codecs::sharded(chunk, inner);
  return m;
}

Layout write(const Json& settings, const Volume& volume, const std::string& folder,
             std::size_t index) {
  Layout layout{settings, nullptr, 0, 0, {}};
  const std::string path = fmt::format("layout-{}", index);
  fs::remove_all(fs::path(folder) / path);
  const auto store = storage::open_store(storage::Place::parse(folder));
  const zarr::ArrayMetadata metadata = metadata_of(settings, volume);
  zarr::ArrayWriter writer(store, path, metadata);
  const std::vector<std::int64_t> strides{2 * volume.shape[1] * volume.shape[2],
                                          2 * volume.shape[2], 2};
  const auto grid = writer.grid();
  const double begin = thread_cpu_s();
  std::uint64_t bytes = 0;
  for (std::int64_t z = 0; z < grid[0]; ++z) {
    for (std::int64_t y = 0; y < grid[1]; ++y) {
      for (std::int64_t x = 0; x < grid[2]; ++x) {
        const auto& edge = metadata.chunk_shape;
        bytes += writer.write_shard(
            {z, y, x},
            reinterpret_cast<const std::byte*>(volume.at(z * edge[0], y * edge[1], x * edge[2])),
            strides);
      }
    }
  }
  writer.finish();
  layout.written_mb_per_s = 2e-6 * static_cast<double>(volume.count()) / (thread_cpu_s() - begin);
  layout.stored_mb = 1e-6 * static_cast<double>(bytes);
  layout.array = zarr::Array::open(store, path);
  return layout;
}

std::vector<std::vector<std::int64_t>> positions(const Volume& volume) {
  std::uint64_t state = kSeed;
  const auto next = [&] {  // splitmix64
    std::uint64_t z = state += 0x9e3779b97f4a7c15ULL;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
    return z ^ z >> 31;
  };
  std::vector<std::vector<std::int64_t>> corners(kPatches, std::vector<std::int64_t>(3));
  for (auto& corner : corners) {
    for (std::size_t axis = 0; axis < 3; ++axis) {
      corner[axis] = static_cast<std::int64_t>(
          next() % static_cast<std::uint64_t>(volume.shape[axis] - kPatch + 1));
    }
  }
  return corners;
}

void read(Layout& layout, const Volume& volume,
          const std::vector<std::vector<std::int64_t>>& corners, bool check) {
  std::vector<std::int16_t> patch(kPatch * kPatch * kPatch);
  const double begin = thread_cpu_s();
  for (const auto& corner : corners) {
    layout.array->read({corner,
                        {kPatch, kPatch, kPatch},
                        reinterpret_cast<std::byte*>(patch.data()),
                        {2 * kPatch * kPatch, 2 * kPatch, 2},
                        {}});
    for (std::int64_t row = 0; check && row < kPatch * kPatch; ++row) {
      const std::int16_t* want =
          volume.at(corner[0] + row / kPatch, corner[1] + row % kPatch, corner[2]);
      if (std::memcmp(patch.data() + row * kPatch, want, 2 * kPatch) != 0) {
        fail(ErrorCode::corrupt, "{}: the voxels read are not those written",
             layout.settings.dump());
      }
    }
  }
  if (!check) layout.read_ms.push_back(1e3 * (thread_cpu_s() - begin) / kPatches);
}

int run(int argc, char** argv) {
  const int rounds = argc > 4 ? std::atoi(argv[3]) : 0;
  if (rounds < 1) {
    fmt::print(stderr, "usage: bench_volume_layouts CT.npy FOLDER ROUNDS LAYOUT...\n");
    return 2;
  }
  const Volume volume = bench::load_npy(argv[1]);
  const auto corners = positions(volume);
  std::vector<Layout> layouts;
  for (int i = 4; i < argc; ++i) {
    layouts.push_back(
        write(parse_json(argv[i], "layout"), volume, argv[2], static_cast<std::size_t>(i - 4)));
    read(layouts.back(), volume, corners, true);
  }
  for (int round = 0; round < rounds; ++round) {
    for (Layout& layout : layouts) read(layout, volume, corners, false);
  }
  for (Layout& layout : layouts) {
    std::sort(layout.read_ms.begin(), layout.read_ms.end());
    Json line = {{"layout", layout.settings}};
    const auto rounded = [](double v) { return std::round(v * 1000) / 1000; };
    line["stored_mb"] = rounded(layout.stored_mb);
    line["write_mb_per_s"] = std::round(layout.written_mb_per_s);
    line["read_cpu_ms"] = rounded(layout.read_ms[layout.read_ms.size() / 2]);
    line["read_cpu_ms_least"] = rounded(layout.read_ms.front());
    fmt::print("{}\n", line.dump());
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
}
