#include "bench/device/decode_arrays.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "headrace/core/error.hpp"
#include "headrace/imaging/picture/image_file.hpp"
#include "headrace/imaging/tiff/tiff_directory.hpp"
#include "headrace/imaging/volume/volume_reader.hpp"
#include "headrace/pixels/jpeg/jpeg_splice.hpp"
#include "headrace/storage/open_store.hpp"
#include "headrace/zarr/array_writer.hpp"
#include "headrace/zarr/defaults.hpp"

namespace headrace::device_bench {
namespace {

using Shape = std::vector<std::int64_t>;
using zarr::Codecs;

// Mirrored at its ends, over and over: no seam that a codec would pay for.
std::int64_t mirrored(std::int64_t i, std::int64_t count) {
  const std::int64_t j = i % (2 * count);
  return j < count ? j : 2 * count - 1 - j;
}

std::int64_t scaled(const DecodeData& data, std::int64_t edge, std::int64_t least) {
  const auto wanted = static_cast<std::int64_t>(static_cast<double>(edge) * data.scale);
  return std::max(least, wanted / least * least);
}

// (c, y, x) of a real section of lung, 512² pixels of it repeated.
std::vector<std::byte> tissue(const DecodeData& data, std::int64_t edge) {
  const auto rgb = imaging::read_rgb(data.samples + "/tissue/tcga-lung-rgb.png");
  std::vector<std::byte> out(static_cast<std::size_t>(3 * edge * edge));
  for (std::int64_t y = 0; y < edge; ++y) {
    const std::uint8_t* row = rgb.row(mirrored(y, rgb.height));
    for (std::int64_t x = 0; x < edge; ++x) {
      const std::uint8_t* pixel = row + 3 * mirrored(x, rgb.width);
      for (std::int64_t c = 0; c < 3; ++c) {
        out[static_cast<std::size_t>((c * edge + y) * edge + x)] = std::byte{pixel[c]};
      }
    }
  }
  return out;
}

// (z, y, x) int16 of a real abdomen, repeated.
std::vector<std::byte> abdomen(const DecodeData& data, const Shape& shape) {
  const auto reader = imaging::open_volume(data.samples + "/ct/totalseg-abdomen/ct.nii.gz");
  const auto& from = reader->info().grid.shape_zyx;
  std::vector<std::int16_t> stored(static_cast<std::size_t>(from[0] * from[1] * from[2]));
  reader->read_int16(0, from[0], stored.data());
  std::vector<std::byte> out(static_cast<std::size_t>(shape[0] * shape[1] * shape[2]) * 2);
  auto* voxels = reinterpret_cast<std::int16_t*>(out.data());
  for (std::int64_t z = 0; z < shape[0]; ++z) {
    for (std::int64_t y = 0; y < shape[1]; ++y) {
      const std::int16_t* row =
          stored.data() + (mirrored(z, from[0]) * from[1] + mirrored(y, from[1])) * from[2];
      for (std::int64_t x = 0; x < shape[2]; ++x) *voxels++ = row[mirrored(x, from[2])];
    }
  }
  return out;
}

std::shared_ptr<const zarr::Array> stored(const DecodeData& data, const std::string& name,
                                          const Shape& shape, const Shape& shard, DType dtype,
                                          const Json& codecs, const std::vector<std::byte>& bytes,
                                          ThreadPool& pool) {
  auto store = storage::open_store(storage::Place::parse(data.folder),
                                   {.durability = storage::Durability::on_sync});
  for (const std::string& key : store->list(name + "/")) store->erase(key);
  zarr::ArrayMetadata metadata;
  metadata.shape = shape;
  metadata.chunk_shape = shard;
  metadata.dtype = dtype;
  metadata.fill_value.resize(size_of(dtype));
  metadata.codecs = codecs;
  zarr::ArrayWriter writer(store, name, metadata);
  const Shape grid = writer.grid();
  Shape strides(3, static_cast<std::int64_t>(size_of(dtype)));
  strides[1] = strides[2] * shape[2];
  strides[0] = strides[1] * shape[1];
  for (std::int64_t i = 0; i < grid[0] * grid[1] * grid[2]; ++i) {
    const Shape at{i / grid[2] / grid[1], i / grid[2] % grid[1], i % grid[2]};
    std::int64_t offset = 0;
    for (std::size_t axis = 0; axis < 3; ++axis) offset += at[axis] * shard[axis] * strides[axis];
    writer.write_shard(at, bytes.data() + offset, strides, &pool);
  }
  writer.finish();
  return zarr::Array::open(store, name);
}

Json interleaved(const Json& codecs) {
  Json all = Json::array({{{"name", "transpose"}, {"configuration", {{"order", {1, 2, 0}}}}}});
  for (const Json& codec : codecs) all.push_back(codec);
  return all;
}
Json interleaved(const Shape& inner, const Json& codecs) {
  return Codecs::sharded(inner, interleaved(codecs));
}

// Boxes all over the array, the same in every run.
std::vector<Shape> places(const Shape& shape, const Shape& size, int count) {
  std::vector<Shape> out;
  std::uint32_t state = 12345;
  for (int i = 0; i < count; ++i) {
    Shape origin;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      state = state * 1664525u + 1013904223u;
      origin.push_back(static_cast<std::int64_t>(state >> 8) %
                       (std::max<std::int64_t>(0, shape[axis] - size[axis]) + 1));
    }
    out.push_back(std::move(origin));
  }
  return out;
}

}  // namespace

std::vector<DecodeCase> stream_cases(const DecodeData& data, ThreadPool& pool) {
  std::vector<DecodeCase> out;
  const std::int64_t edge = scaled(data, 8192, 512), shard = std::min<std::int64_t>(edge, 2048);
  const std::vector<std::byte> pixels = tissue(data, edge);
  const Shape slide{3, edge, edge}, patch{3, std::min<std::int64_t>(edge, 512), 512};
  const Shape inner{3, zarr::kSlideInnerEdge, zarr::kSlideInnerEdge};
  const auto add_slide = [&](const char* name, const Json& codecs) {
    DecodeCase c{"64 windows of 512² RGB", name, nullptr, places(slide, patch, 64), patch, {}, 0};
    c.array = stored(data, fmt::format("slide-{}", out.size()), slide, {3, shard, shard},
                     DType::uint8, interleaved(inner, codecs), pixels, pool);
    c.strides = {1, patch[2] * 3, 3};
    c.window_bytes = static_cast<std::uint64_t>(3 * patch[1] * patch[2]);
    out.push_back(std::move(c));
  };
  add_slide("blosc-zstd",
            Codecs::blosc_zstd(DType::uint8, zarr::kSlideBloscLevel, zarr::kSlideBloscShuffle,
                               zarr::kSlideBloscBlockBytes));
  add_slide("zstd", Codecs::zstd(DType::uint8, 1));

  const std::int64_t plane = scaled(data, 384, 96);
  const Shape volume{scaled(data, 384, 96), plane, plane};
  const std::vector<std::byte> voxels = abdomen(data, volume);
  const std::int64_t cube = std::min<std::int64_t>(160, plane);
  const Shape box{cube, cube, cube}, cubes(3, zarr::kVolumeInnerEdge);
  const auto add_volume = [&](const char* name, const Json& codecs) {
    DecodeCase c{fmt::format("8 windows of {}³ int16", cube),
                 name,
                 nullptr,
                 places(volume, box, 8),
                 box,
                 {},
                 0};
    c.array = stored(data, fmt::format("volume-{}", out.size()), volume,
                     Shape(3, std::min(plane, zarr::kVolumeShardEdge)), DType::int16,
                     Codecs::sharded(cubes, codecs), voxels, pool);
    c.strides = {cube * cube * 2, cube * 2, 2};
    c.window_bytes = static_cast<std::uint64_t>(cube * cube * cube * 2);
    out.push_back(std::move(c));
  };
  const DType int16 = DType::int16;
  add_volume("blosc-lz4",
             Codecs::checked(Codecs::blosc(zarr::kVolumeLz4Compressor, int16, zarr::kVolumeLz4Level,
                                           zarr::kVolumeBloscShuffle, zarr::kVolumeLz4BlockBytes)));
  add_volume("blosc-zstd", Codecs::checked(Codecs::blosc_zstd(int16, zarr::kVolumeBloscLevel,
                                                              zarr::kVolumeBloscShuffle,
                                                              zarr::kVolumeZstdBlockBytes)));
  add_volume("zstd", Codecs::checked(Codecs::zstd(int16, zarr::kVolumeZstdLevel)));
  return out;
}

DecodeCase jpeg_case(const DecodeData& data, std::int64_t edge, ThreadPool& pool) {
  const std::int64_t whole = scaled(data, 8192, 1024);
  const Shape slide{3, whole, whole}, tile{3, edge, edge};
  DecodeCase c{"", "jpeg", nullptr, {}, tile, {1, edge * 3, 3}, 0};
  c.window_bytes = static_cast<std::uint64_t>(3 * edge * edge);
  c.array = stored(data, fmt::format("jpeg-{}", edge), slide,
                   {3, std::min<std::int64_t>(whole, 2048), std::min<std::int64_t>(whole, 2048)},
                   DType::uint8, interleaved(tile, Codecs::jpeg(zarr::kSlideJpegQuality)),
                   tissue(data, whole), pool);
  for (std::int64_t y = 0; y < whole; y += edge) {
    for (std::int64_t x = 0; x < whole; x += edge) c.origins.push_back({0, y, x});
  }
  c.data = fmt::format("{} tiles of {}²", c.origins.size(), edge);
  return c;
}

DecodeCase aperio_case(const DecodeData& data) {
  constexpr std::size_t kTiles = 256, kColumns = 16;
  const auto file = storage::open_input(data.samples + "/slides/CMU-1-Small-Region.svs");
  const auto slide = imaging::read_first_tiff_directory(*file);
  const std::int64_t edge = slide.tile_width;
  zarr::ArrayMetadata metadata;
  metadata.shape = {3, static_cast<std::int64_t>(kTiles / kColumns) * edge,
                    static_cast<std::int64_t>(kColumns) * edge};
  metadata.chunk_shape = {3, edge, edge};
  metadata.dtype = DType::uint8;
  metadata.fill_value.resize(1);
  metadata.codecs = interleaved(Codecs::jpeg(zarr::kSlideJpegQuality));
  auto store = storage::open_store(storage::Place::parse(data.folder),
                                   {.durability = storage::Durability::on_sync});
  const std::string name = "aperio";
  for (const std::string& key : store->list(name + "/")) store->erase(key);
  DecodeCase c{fmt::format("{} tiles of {}², RGB of Aperio's", kTiles, edge),
               "jpeg",
               nullptr,
               {},
               {3, edge, edge},
               {1, edge * 3, 3},
               static_cast<std::uint64_t>(3 * edge * edge)};
  for (std::size_t i = 0; i < kTiles; ++i) {
    // Tiles at the slide's edge are tiles like the others.
    const std::size_t tile = i % slide.tile_offsets.size();
    std::vector<std::byte> stored(slide.tile_bytes[tile]);
    file->read(slide.tile_offsets[tile], stored);
    pixels::JpegMarkers markers;
    std::vector<std::byte> jpeg;
    if (!pixels::splice_jpeg(slide.jpeg_tables, stored, true, markers, jpeg))
      fail(ErrorCode::corrupt, "{}: tile {} is not a colour JPEG", file->describe(), tile);
    const auto y = static_cast<std::int64_t>(i / kColumns),
               x = static_cast<std::int64_t>(i % kColumns);
    store->put(name + "/" + metadata.chunk_key({0, y, x}), jpeg);
    c.origins.push_back({0, y * edge, x * edge});
  }
  zarr::ArrayWriter(store, name, metadata).finish();
  c.array = zarr::Array::open(store, name);
  return c;
}

}  // namespace headrace::device_bench
