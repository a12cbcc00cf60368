#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>

#include "headrace/pixels/average.hpp"
#include "headrace/zarr/codec/chain.hpp"
#include "headrace/zarr/tile_table.hpp"
#include "tests/zarr/zarr_test_data.hpp"

// Arrays whose pixels lie elsewhere: in another object by a table of ranges, or in a finer array.
namespace headrace::zarr {
namespace {

using test::MemoryStore;
using test::Shape;
using testing::HasSubstr;

constexpr std::int64_t kEdge = 16;

OtherPixels table_of_source() { return {OtherPixels::Kind::tile_table, "tiles", "../source"}; }
OtherPixels average_of(const std::string& path) { return {OtherPixels::Kind::average, "", path}; }

/// (c, y, x), interleaved chunks of 16×16, of which a shard has 2×3.
ArrayMetadata slide_level(std::int64_t height, std::int64_t width) {
  Json inner = Json::array({test::named("transpose", {{"order", {1, 2, 0}}})});
  for (const Json& codec : Codecs::checked(Json::array({test::named("bytes")})))
    inner.push_back(codec);
  ArrayMetadata metadata =
      test::metadata_of({3, height, width}, {3, 2 * kEdge, 3 * kEdge}, DType::uint8,
                        Codecs::sharded({3, kEdge, kEdge}, inner));
  metadata.fill_value = {std::byte{255}};
  return metadata;
}

/// A file with the tiles of an array in any order, and other bytes between them.
struct TiledFile {
  std::vector<std::byte> bytes;
  std::vector<TileRange> tiles;
};

/// missing: every so many tiles one is not there; 0: none.
TiledFile tiled_file(const std::vector<std::byte>& pixels, std::int64_t height, std::int64_t width,
                     std::mt19937& random, int missing = 0) {
  const std::int64_t down = (height + kEdge - 1) / kEdge, across = (width + kEdge - 1) / kEdge;
  ChunkSpec spec{DType::uint8, 3, {3, kEdge, kEdge}, {std::byte{255}}};
  const Json codecs = slide_level(height, width).codecs[0]["configuration"]["codecs"];
  const auto chain = CodecChain::prepare(codecs, spec, "test");
  std::vector<std::size_t> order(static_cast<std::size_t>(down * across));
  std::iota(order.begin(), order.end(), 0U);
  std::shuffle(order.begin(), order.end(), random);
  TiledFile file;
  file.tiles.resize(order.size());
  file.bytes.resize(random() % 100, std::byte{0x49});
  for (const std::size_t i : order) {
    if (missing != 0 && i % static_cast<std::size_t>(missing) == 0) continue;
    const auto tile = static_cast<std::int64_t>(i);
    auto planes =
        test::expected_region(pixels, {3, height, width}, 1,
                              {0, tile / across * kEdge, tile % across * kEdge}, {3, kEdge, kEdge});
    std::vector<std::byte> encoded;
    chain->encode({planes.data(), {kEdge * kEdge, kEdge, 1}}, encoded);
    file.tiles[i] = {file.bytes.size(), encoded.size()};
    file.bytes.insert(file.bytes.end(), encoded.begin(), encoded.end());
    file.bytes.resize(file.bytes.size() + random() % 30, std::byte{0x2a});
  }
  return file;
}

std::vector<std::byte> read_region(const Array& array, const Shape& origin, const Shape& size,
                                   std::span<const RowSpan> spans = {}) {
  std::vector<std::byte> out(static_cast<std::size_t>(test::count_of(size)), std::byte{77});
  array.read({origin, size, out.data(), test::c_strides(size, 1), spans});
  return out;
}

/// As expected_region, white outside.
std::vector<std::byte> white_outside(const std::vector<std::byte>& pixels, const Shape& shape,
                                     const Shape& origin, const Shape& size) {
  auto out = test::expected_region(pixels, shape, 1, origin, size);
  for (std::size_t i = 0; i < out.size(); ++i) {
    const auto at = static_cast<std::int64_t>(i);
    const std::int64_t y = origin[1] + at / size[2] % size[1], x = origin[2] + at % size[2];
    if (y < 0 || y >= shape[1] || x < 0 || x >= shape[2]) out[i] = std::byte{255};
  }
  return out;
}

Shape any_origin(std::mt19937& random, const Shape& shape) {
  return {0, static_cast<std::int64_t>(random() % static_cast<unsigned>(shape[1] + 20)) - 10,
          static_cast<std::int64_t>(random() % static_cast<unsigned>(shape[2] + 20)) - 10};
}

class OtherPixelsTest : public testing::Test {
 protected:
  /// Writes level 0 of this size by table; gives its pixels as (c, y, x).
  std::vector<std::byte> write_level(std::int64_t height, std::int64_t width, int missing = 0) {
    auto pixels = test::smooth_bytes(static_cast<std::size_t>(3 * height * width), random_());
    TiledFile file = tiled_file(pixels, height, width, random_, missing);
    ArrayMetadata metadata = slide_level(height, width);
    metadata.other_pixels = table_of_source();
    write_tile_table(store_, "a/0", metadata, file.tiles);
    store_->objects["a/source"] = std::move(file.bytes);
    return pixels;
  }
  std::shared_ptr<const Array> open(const std::string& path) { return Array::open(store_, path); }
  Json metadata_of(const std::string& path) {
    const auto& bytes = store_->objects.at(path + "/zarr.json");
    return Json::parse(reinterpret_cast<const char*>(bytes.data()),
                       reinterpret_cast<const char*>(bytes.data()) + bytes.size());
  }
  void put_metadata(const std::string& path, const Json& json) {
    const std::string text = json.dump();
    store_->put(path + "/zarr.json", std::as_bytes(std::span(text)));
  }

  std::mt19937 random_{5};
  std::shared_ptr<MemoryStore> store_ = std::make_shared<MemoryStore>();
};

TEST_F(OtherPixelsTest, AnyRegionByTableIsThatOfTheArray) {
  for (const auto& [height, width] : {std::pair(75, 131), std::pair(16, 16), std::pair(33, 49)}) {
    const auto pixels = write_level(height, width);
    const auto array = open("a/0");
    const Shape shape{3, height, width};
    for (int k = 0; k < 100; ++k) {
      const Shape origin = any_origin(random_, shape),
                  size{3, 1 + static_cast<std::int64_t>(random_() % 60),
                       1 + static_cast<std::int64_t>(random_() % 60)};
      ASSERT_EQ(read_region(*array, origin, size), white_outside(pixels, shape, origin, size));
    }
    EXPECT_EQ(store_->objects.count("a/0/c/0/0/0"), 0U);
  }
}

TEST_F(OtherPixelsTest, TilesThatTheFileLacksAreFillValues) {
  write_level(64, 96, 4);
  const auto got = read_region(*open("a/0"), {0, 0, 0}, {3, kEdge, kEdge});
  EXPECT_THAT(got, testing::Each(std::byte{255}));
}

TEST_F(OtherPixelsTest, APatchReadsOneIndexOfTheTable) {
  write_level(40 * kEdge, 40 * kEdge);
  const auto array = open("a/0");
  store_->reads.clear();
  read_region(*array, {0, 20, 20}, {3, 8, 8});
  ASSERT_EQ(store_->reads.size(), 2U) << "the index of a shard and one tile";
  EXPECT_EQ(store_->reads[0].second, std::size_t{6 * 16 + 4});
}

TEST_F(OtherPixelsTest, WhatIsNotThereIsSaid) {
  write_level(40, 40);
  const auto read = [&] { read_region(*open("a/0"), {0, 0, 0}, {3, 40, 40}); };
  const auto objects = store_->objects;
  store_->objects.erase("a/source");
  EXPECT_THAT(error_of(ErrorCode::not_found, read), HasSubstr("a/source"));
  store_->objects = objects;
  store_->objects.erase("a/0/tiles");
  EXPECT_THAT(error_of(ErrorCode::not_found, read), HasSubstr("a/0/tiles"));
  store_->objects = objects;
  store_->objects["a/0/tiles"].resize(50);
  error_of(ErrorCode::corrupt, read);
  store_->objects = objects;
  store_->objects["a/0/tiles"][3] ^= std::byte{1};
  EXPECT_THAT(error_of(ErrorCode::corrupt, read), HasSubstr("crc32c"));
  store_->objects = objects;
  store_->objects["a/source"].resize(store_->objects["a/source"].size() / 2);
  error_of(ErrorCode::corrupt, read);
}

TEST_F(OtherPixelsTest, AnyRegionOfAveragesIsTheAverage) {
  for (const auto& [height, width] : {std::pair(75, 131), std::pair(64, 96), std::pair(17, 18)}) {
    auto pixels = write_level(height, width);
    Shape shape{3, height, width};
    for (int level = 1; level <= 2; ++level) {
      const Shape half{3, (shape[1] + 1) / 2, (shape[2] + 1) / 2};
      std::vector<std::byte> averaged(static_cast<std::size_t>(test::count_of(half)));
      for (std::int64_t c = 0; c < 3; ++c)
        pixels::average_2x2(
            reinterpret_cast<std::uint8_t*>(pixels.data()) + c * shape[1] * shape[2], shape[1],
            shape[2], 1, shape[2],
            reinterpret_cast<std::uint8_t*>(averaged.data()) + c * half[1] * half[2], half[2]);
      pixels = std::move(averaged);
      shape = half;
      ArrayMetadata metadata = slide_level(shape[1], shape[2]);
      metadata.other_pixels = average_of(fmt::format("../{}", level - 1));
      write_average(store_, fmt::format("a/{}", level), metadata);
      const auto array = open(fmt::format("a/{}", level));
      for (int k = 0; k < 100; ++k) {
        const Shape origin = any_origin(random_, shape),
                    size{3, 1 + static_cast<std::int64_t>(random_() % 40),
                         1 + static_cast<std::int64_t>(random_() % 40)};
        const auto expected = white_outside(pixels, shape, origin, size);
        ASSERT_EQ(read_region(*array, origin, size), expected);
        const auto first = static_cast<std::int64_t>(random_() % 3),
                   count = 1 + static_cast<std::int64_t>(random_() % 3);
        const Shape some_origin{first, origin[1], origin[2]},
            some_size{std::min<std::int64_t>(count, 3 - first), size[1], size[2]};
        ASSERT_EQ(read_region(*array, some_origin, some_size),
                  white_outside(pixels, shape, some_origin, some_size));
        std::vector<RowSpan> spans;
        for (std::int64_t y = 0; y < size[1]; ++y) {
          const auto a = static_cast<std::int32_t>(random_() % static_cast<unsigned>(size[2] + 1)),
                     b = static_cast<std::int32_t>(random_() % static_cast<unsigned>(size[2] + 1));
          spans.push_back({std::min(a, b), std::max(a, b)});
        }
        const auto got = read_region(*array, origin, size, spans);
        for (std::int64_t i = 0; i < test::count_of(size); ++i) {
          const RowSpan& span = spans[static_cast<std::size_t>(i / size[2] % size[1])];
          if (i % size[2] < span.begin || i % size[2] >= span.end) continue;
          ASSERT_EQ(got[static_cast<std::size_t>(i)], expected[static_cast<std::size_t>(i)]);
        }
      }
    }
  }
}

TEST_F(OtherPixelsTest, TheHostAloneDecodesThem) {
  write_level(40, 40);
  ArrayMetadata halved = slide_level(20, 20);
  halved.other_pixels = average_of("../0");
  write_average(store_, "a/1", halved);
  EXPECT_EQ(open("a/1")->host_only(), "the average of a finer level");
  for (const Json& codecs : {Codecs::jpeg_with_tables({}, true), Codecs::jpeg2k_tiles(false)}) {
    ArrayMetadata metadata = slide_level(40, 40);
    Json inner = Json::array({test::named("transpose", {{"order", {1, 2, 0}}})});
    for (const Json& codec : codecs) inner.push_back(codec);
    metadata.codecs = Codecs::sharded({3, kEdge, kEdge}, inner);
    metadata.other_pixels = table_of_source();
    write_tile_table(store_, "b/0", metadata, std::vector<TileRange>(9));
    EXPECT_THAT(open("b/0")->host_only(), HasSubstr("bytes codec 1"));
  }
}

TEST_F(OtherPixelsTest, MetadataComesBackAsItWas) {
  write_level(40, 40);
  for (const OtherPixels& other : {table_of_source(), average_of("../0")}) {
    ArrayMetadata metadata = slide_level(40, 40);
    metadata.other_pixels = other;
    EXPECT_EQ(ArrayMetadata::parse(metadata.to_json(), "test").other_pixels, other);
  }
}

TEST_F(OtherPixelsTest, MetadataThatCantBeRightIsRefused) {
  write_level(40, 40);
  const Json good = metadata_of("a/0");
  const auto refused = [&](ErrorCode code, const Json& transformers) {
    Json json = good;
    json["storage_transformers"] = transformers;
    put_metadata("a/0", json);
    return error_of(code, [&] { open("a/0"); });
  };
  const auto transformer = [](const char* name, Json configuration) {
    return Json::array({test::named(name, std::move(configuration))});
  };
  for (const char* path : {"/etc/passwd", "../../source", "../a/../../b", "..", ""}) {
    refused(ErrorCode::malformed,
            transformer("headrace.tile_table", {{"table", "tiles"}, {"pixels", path}}));
    refused(ErrorCode::malformed,
            transformer("headrace.tile_table", {{"table", path}, {"pixels", "../source"}}));
    refused(ErrorCode::malformed, transformer("headrace.average_2x2", {{"pixels", path}}));
  }
  refused(ErrorCode::unsupported, transformer("another", {}));
  EXPECT_THAT(
      refused(ErrorCode::malformed, transformer("headrace.average_2x2", {{"pixels", "../0"}})),
      HasSubstr("averages of more than"));
  Json two = good["storage_transformers"];
  two.push_back(two[0]);
  refused(ErrorCode::unsupported, two);
  put_metadata("a/0", good);
  ArrayMetadata halved = slide_level(20, 21);
  halved.other_pixels = average_of("../0");
  write_average(store_, "a/1", halved);
  EXPECT_THAT(error_of(ErrorCode::malformed, [&] { open("a/1"); }), HasSubstr("(3, 20, 21)"));
}

TEST_F(OtherPixelsTest, ATableHasAPlaceForEachTile) {
  ArrayMetadata metadata = slide_level(40, 40);
  const std::vector<TileRange> tiles(9, TileRange{0, 10});
  error_of(ErrorCode::usage, [&] { write_tile_table(store_, "a/0", metadata, tiles); });
  metadata.other_pixels = table_of_source();
  write_tile_table(store_, "a/0", metadata, tiles);
  error_of(ErrorCode::usage,
           [&] { write_tile_table(store_, "a/0", metadata, std::span(tiles).first(8)); });
}

}  // namespace
}  // namespace headrace::zarr
