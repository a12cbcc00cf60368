#include "learn/handover/ome_zarr/plain_writer.hpp"

#include <algorithm>
#include <system_error>

#include "headrace/core/error.hpp"
#include "headrace/core/progress.hpp"
#include "headrace/core/rounding.hpp"
#include "headrace/storage/atomic_folder.hpp"
#include "headrace/storage/open_store.hpp"
#include "headrace/zarr/array_writer.hpp"
#include "headrace/zarr/codec/strided.hpp"
#include "headrace/zarr/defaults.hpp"

namespace headrace::handover {
namespace {

constexpr const char* kKind = "export";
constexpr int kFormat = 2;
constexpr std::int64_t kTile = 512, kSlices = 32, kVolumeTile = 128;
constexpr int kZstdLevel = 3, kBloscLevel = 5, kGzipLevel = 5;

bool is_rgb(const PlainArray& array) {
  return array.dtype == DType::uint8 && array.shape.size() == 3 &&
         array.dimension_names.front() == "c" && array.shape.front() == 3;
}

Json inner_codecs(DType dtype, PlainCodec codec) {
  const Json zstd = zarr::Codecs::zstd(dtype, kZstdLevel);
  const Json& bytes = zstd.at(0);
  switch (codec) {
    case PlainCodec::zstd:
      return zstd;
    case PlainCodec::blosc:
      return zarr::Codecs::blosc_zstd(dtype, kBloscLevel,
                                      size_of(dtype) > 1 ? "bitshuffle" : "noshuffle");
    case PlainCodec::gzip:
      return Json::array(
          {bytes, Json{{"name", "gzip"}, {"configuration", {{"level", kGzipLevel}}}}});
    case PlainCodec::raw:
      return Json::array({bytes});
    case PlainCodec::jpeg:
      break;
  }
  Json out = zarr::Codecs::jpeg(zarr::kSlideJpegQuality);
  out.insert(out.begin(), Json{{"name", "transpose"}, {"configuration", {{"order", {1, 2, 0}}}}});
  return out;
}

/// Inner chunks, and shards of whole ones up to a limit.
zarr::ArrayMetadata metadata_of(const PlainArray& array, PlainCodec codec) {
  zarr::ArrayMetadata out;
  out.shape = array.shape;
  out.dtype = array.dtype;
  out.fill_value = array.fill_value;
  out.dimension_names = array.dimension_names;
  const bool volume = array.dimension_names.front() == "z";
  const bool channels = array.dimension_names.front() == "c";
  const bool jpeg = codec == PlainCodec::jpeg;
  std::vector<std::int64_t> inner;
  for (std::size_t axis = 0; axis < array.shape.size(); ++axis) {
    const std::int64_t size = array.shape[axis];
    if (axis == 0 && channels) {
      inner.push_back(jpeg ? size : 1);
      out.chunk_shape.push_back(size);
    } else if (volume) {
      inner.push_back(axis == 0 ? kSlices : kVolumeTile);
      out.chunk_shape.push_back(axis == 0 ? kSlices : round_up(size, kVolumeTile));
    } else {
      inner.push_back(jpeg ? zarr::kSlideJpegInnerEdge : kTile);
      out.chunk_shape.push_back(std::min(zarr::kSlideShardEdge, round_up(size, inner.back())));
    }
  }
  out.codecs = zarr::Codecs::sharded(inner, inner_codecs(array.dtype, codec));
  return out;
}

/// The part of a shard that lies in the array.
zarr::RegionRead region_of(const zarr::ArrayMetadata& metadata,
                           const std::vector<std::int64_t>& shard) {
  zarr::RegionRead region;
  for (std::size_t axis = 0; axis < shard.size(); ++axis) {
    region.origin.push_back(shard[axis] * metadata.chunk_shape[axis]);
    region.shape.push_back(
        std::min(metadata.chunk_shape[axis], metadata.shape[axis] - region.origin.back()));
  }
  return region;
}

/// Writes shard after shard; each is read in bands of rows (slices), at once on all threads.
class ShardCopy {
 public:
  ShardCopy(const PlainArray& array, const zarr::ArrayMetadata& metadata, ThreadPool& pool)
      : array_(array), metadata_(metadata), pool_(pool) {
    axis_ = array.dimension_names.front() == "c" ? 1 : 0;
    rows_ = axis_ == 0 && array.shape.size() == 3 ? 4 : kTile;
  }

  void write(zarr::ArrayWriter& writer, const std::vector<std::int64_t>& shard) {
    zarr::RegionRead region = region_of(metadata_, shard);
    zarr::Index shape{};
    std::copy(region.shape.begin(), region.shape.end(), shape.begin());
    const int rank = static_cast<int>(region.shape.size());
    const auto item = static_cast<std::int64_t>(size_of(metadata_.dtype));
    const zarr::Index strides = zarr::contiguous_strides(rank, shape, item);
    region.strides_bytes.assign(strides.begin(), strides.begin() + rank);
    elements_.resize(static_cast<std::size_t>(zarr::count_elements(rank, shape) * item));
    region.dst = elements_.data();
    const std::int64_t whole = region.shape[axis_];
    pool_.parallel_for(static_cast<std::size_t>((whole + rows_ - 1) / rows_), [&](std::size_t i) {
      zarr::RegionRead band = region;
      const std::int64_t first = static_cast<std::int64_t>(i) * rows_;
      band.origin[axis_] += first;
      band.shape[axis_] = std::min(rows_, whole - first);
      band.dst += first * region.strides_bytes[axis_];
      array_.read(band);
    });
    writer.write_shard(shard, elements_.data(), region.strides_bytes, &pool_);
  }

 private:
  const PlainArray& array_;
  const zarr::ArrayMetadata& metadata_;
  ThreadPool& pool_;
  std::size_t axis_ = 0;   ///< of the bands
  std::int64_t rows_ = 0;  ///< of a band
  std::vector<std::byte> elements_;
};

/// The next place of a grid in C order; false after the last.
bool next(std::vector<std::int64_t>& place, const std::vector<std::int64_t>& grid) {
  for (std::size_t axis = place.size(); axis-- > 0;) {
    if (++place[axis] < grid[axis]) return true;
    place[axis] = 0;
  }
  return false;
}

void write_array(const PlainArray& array, const std::shared_ptr<storage::Store>& to,
                 PlainCodec codec, ThreadPool& pool) {
  const zarr::ArrayMetadata metadata = metadata_of(array, codec);
  zarr::ArrayWriter writer(to, array.path, metadata);
  ShardCopy copy(array, metadata, pool);
  const std::vector<std::int64_t> grid = writer.grid();
  std::vector<std::int64_t> shard(grid.size(), 0);
  do {
    copy.write(writer, shard);
  } while (next(shard, grid));
  writer.finish();
}

/// Every object of a stored array as it is.
void copy_objects(const PlainArray& array, storage::Store& to) {
  const std::string from = array.stored->path() + "/";
  for (const std::string& key : array.store->list(from)) {
    const auto bytes = array.store->get(key);
    to.put(array.path + "/" + key.substr(from.size()), bytes);
  }
}

void write_arrays(const PlainImage& image, const std::shared_ptr<storage::Store>& to,
                  PlainCodec codec, ThreadPool& pool) {
  Progress progress("export " + image.name, image.arrays.size(), "array");
  for (const PlainArray& array : image.arrays) {
    const bool jpeg = codec == PlainCodec::jpeg && !array.label;
    if (jpeg && !is_rgb(array)) {
      fail(ErrorCode::usage,
           "{}: array {} is not an RGB picture of 8 bits, which JPEG needs; choose another codec",
           image.name, array.path);
    }
    if (jpeg && array.stored && array.stored->is_jpeg()) {
      copy_objects(array, *to);
    } else {
      write_array(array, to, codec == PlainCodec::jpeg && !jpeg ? PlainCodec::zstd : codec, pool);
    }
    progress.advance();
  }
}

/// attributes.headrace of an exported image, by which a later export knows it.
Json own_attributes(const PlainImage& image, PlainCodec codec) {
  return {
      {"kind", kKind}, {"format", kFormat}, {"codec", name_of(codec)}, {"content", image.content}};
}

void write_groups(const PlainImage& image, storage::Store& to, PlainCodec codec) {
  for (const auto& [path, ome] : image.ome) {
    Json attributes = Json::object();
    if (!ome.is_null()) attributes["ome"] = ome;
    if (path.empty()) attributes["headrace"] = own_attributes(image, codec);
    to.put_text(path.empty() ? "zarr.json" : path + "/zarr.json",
                dump_json(zarr::group_metadata(attributes)));
  }
}

/// Whether the folder is this export. Errors: usage (it is something else).
bool is_written(const PlainImage& image, const std::filesystem::path& folder, PlainCodec codec) {
  if (!std::filesystem::exists(folder)) return false;
  const auto there = storage::open_store(storage::Place::parse(folder));
  if (there->exists("zarr.json")) {
    const Json group = parse_json(there->get_text("zarr.json"), there->describe("zarr.json"));
    const Json* own = find_at(group, {"attributes", "headrace"});
    if (own != nullptr && *own == own_attributes(image, codec)) return true;
  }
  fail(ErrorCode::usage,
       "{}: exists, and is not this export (another codec, image or prediction, or of an older "
       "version); remove it, or name another output folder",
       folder.string());
}

}  // namespace

bool write_plain_image(const PlainImage& image, const std::filesystem::path& folder,
                       PlainCodec codec, ThreadPool& pool) {
  if (is_written(image, folder, codec)) return false;
  storage::AtomicFolder whole(folder);
  const auto to =
      storage::open_store(storage::Place::parse(whole.aside()), {64, storage::Durability::on_sync});
  write_arrays(image, to, codec, pool);
  write_groups(image, *to, codec);
  to->sync();
  whole.finish();
  return true;
}

}  // namespace headrace::handover
