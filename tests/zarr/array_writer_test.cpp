#include "headrace/zarr/array_writer.hpp"

#include <nlohmann/json.hpp>

#include "headrace/zarr/codec/sharding_indexed.hpp"
#include "tests/zarr/zarr_test_data.hpp"

namespace headrace::zarr {
namespace {

using test::MemoryStore;
using test::named;

ArrayMetadata sharded_metadata() {
  return test::metadata_of({64, 64}, {32, 32}, DType::uint8,
                           Codecs::sharded({8, 8}, Codecs::zstd(DType::uint8, 3)));
}

TEST(ArrayWriter, TheSameElementsGiveTheSameBytesOnAnyNumberOfThreads) {
  const auto elements = test::smooth_bytes(64 * 64, 6);
  std::vector<std::map<std::string, std::vector<std::byte>>> stores;
  for (const int threads : {0, 1, 2, 7}) {
    const auto store = std::make_shared<MemoryStore>();
    ThreadPool pool(std::max(threads, 1));
    test::write_array(store, "a", sharded_metadata(), elements, threads == 0 ? nullptr : &pool);
    stores.push_back(store->objects);
  }
  for (const auto& objects : stores) EXPECT_EQ(objects, stores[0]);
  EXPECT_EQ(stores[0].size(), 5U);
}

TEST(ArrayWriter, InnerChunksLieOnTheZCurve) {
  const auto store = std::make_shared<MemoryStore>();
  auto metadata = test::metadata_of({4, 4}, {4, 4}, DType::uint8,
                                    Codecs::sharded({1, 1}, Json::array({named("bytes")})));
  std::vector<std::byte> elements(16);
  for (int i = 0; i < 16; ++i)
    elements[static_cast<std::size_t>(i)] = static_cast<std::byte>(i + 1);
  test::write_array(store, "a", metadata, elements);
  const auto& shard = store->objects["a/c/0/0"];
  // Row-major positions of a 4x4 grid in Morton order, y before x in each pair of bits.
  const std::vector<int> order{0, 1, 4, 5, 2, 3, 6, 7, 8, 9, 12, 13, 10, 11, 14, 15};
  for (std::size_t i = 0; i < 16; ++i) EXPECT_EQ(std::to_integer<int>(shard[i]), order[i] + 1);
}

TEST(ArrayWriter, WhatIsAllFillValueIsNotStored) {
  const auto store = std::make_shared<MemoryStore>();
  std::vector<std::byte> elements(64 * 64);
  elements[5 * 64 + 40] = std::byte{1};  // shard (0, 1), inner chunk (0, 1)
  test::write_array(store, "a", sharded_metadata(), elements);
  EXPECT_EQ(store->list("a/"), (std::vector<std::string>{"a/c/0/1", "a/zarr.json"}));
  EXPECT_LT(store->objects["a/c/0/1"].size(), 16U * 16 + 4 + 40);
  EXPECT_EQ(test::read_region(*Array::open(store, "a"), {0, 0}, {64, 64}), elements);
}

TEST(ArrayWriter, AnObjectOfAnEarlierRunIsRemovedWhereNothingIsStored) {
  const auto store = std::make_shared<MemoryStore>();
  test::write_array(store, "a", sharded_metadata(), test::smooth_bytes(64 * 64, 6));
  test::write_array(store, "a", sharded_metadata(), std::vector<std::byte>(64 * 64));
  EXPECT_EQ(store->list("a/"), std::vector<std::string>{"a/zarr.json"});
}

TEST(ArrayWriter, BeyondTheEdgeNothingIsRead) {
  const auto store = std::make_shared<MemoryStore>();
  auto metadata = sharded_metadata();
  metadata.shape = {37, 41};
  metadata.fill_value = {std::byte{3}};
  const auto elements = test::smooth_bytes(37 * 41, 1);  // address checks detect a read beyond it
  test::write_array(store, "a", metadata, elements);
  EXPECT_EQ(test::read_region(*Array::open(store, "a"), {0, 0}, {37, 41}), elements);
}

TEST(ArrayWriter, ZarrJsonStandsOnlyAfterFinish) {
  const auto store = std::make_shared<MemoryStore>();
  ArrayWriter writer(store, "a", sharded_metadata());
  EXPECT_EQ(writer.grid(), (test::Shape{2, 2}));
  const auto elements = test::smooth_bytes(32 * 32, 1);
  EXPECT_GT(writer.write_shard({0, 0}, elements.data(), {32, 1}), 0U);
  EXPECT_FALSE(store->exists("a/zarr.json"));
  writer.finish();
  EXPECT_TRUE(store->exists("a/zarr.json"));
}

TEST(ArrayWriter, EncodedChunksAreCopiedAsTheyAre) {
  const auto store = std::make_shared<MemoryStore>();
  auto metadata = test::metadata_of({16, 16}, {16, 16}, DType::uint8,
                                    Codecs::sharded({8, 8}, Json::array({named("bytes")})));
  const auto bytes = test::smooth_bytes(64, 1);
  ArrayWriter writer(store, "a", metadata);
  const std::vector<std::span<const std::byte>> chunks{{}, bytes, {}, bytes};
  EXPECT_EQ(writer.write_encoded_shard({0, 0}, chunks), 64U + 64 + 4 * 16 + 4);
  writer.finish();
  const auto array = Array::open(store, "a");
  EXPECT_EQ(test::read_region(*array, {0, 8}, {8, 8}), bytes);
  EXPECT_EQ(test::read_region(*array, {8, 0}, {8, 8}), std::vector<std::byte>(64));
  error_of(ErrorCode::usage, [&] {
    writer.write_encoded_shard({0, 0}, std::span(chunks).first(3));
  });
}

TEST(ArrayWriter, WhatCannotBeReadBackIsRefused) {
  const auto store = std::make_shared<MemoryStore>();
  auto metadata = sharded_metadata();
  metadata.codecs = {named("bytes"), named("lzma")};
  error_of(ErrorCode::unsupported, [&] { ArrayWriter(store, "a", metadata); });
  ArrayWriter writer(store, "a", sharded_metadata());
  std::byte byte{};
  error_of(ErrorCode::usage, [&] { writer.write_shard({2, 0}, &byte, {1, 1}); });
  error_of(ErrorCode::usage, [&] { writer.write_shard({0}, &byte, {1}); });
  error_of(ErrorCode::usage, [&] { writer.write_shard({0, 0}, &byte, {1}); });
  EXPECT_TRUE(store->objects.empty());
}

TEST(ArrayWriter, AlignsInnerChunks) {
  const test::Shape shape{70, 90, 75}, chunk{64, 64, 64}, inner{32, 32, 32};
  const auto elements = test::smooth_bytes(70 * 90 * 75 * 2, 3);
  for (const char* location : {"end", "start"}) {
    SCOPED_TRACE(location);
    Json codecs = Codecs::sharded(inner, Codecs::zstd(DType::int16, 3));
    codecs[0]["configuration"]["index_location"] = location;
    const auto metadata = test::metadata_of(shape, chunk, DType::int16, codecs);
    auto plain = std::make_shared<test::MemoryStore>();
    auto aligned = std::make_shared<test::MemoryStore>();
    test::write_array(plain, "a", metadata, elements);
    test::write_array(aligned, "a", metadata, elements, nullptr, 4096);
    std::size_t chunks = 0;
    for (const auto& [key, bytes] : aligned->objects) {
      if (key.ends_with("zarr.json")) continue;
      // The index: 8 inner chunks, offset and size each, then crc32c.
      const std::size_t index = std::string(location) == "end" ? bytes.size() - 132 : 0;
      for (std::size_t i = 0; i < 8; ++i) {
        std::uint64_t at, size;
        std::memcpy(&at, bytes.data() + index + 16 * i, 8);
        std::memcpy(&size, bytes.data() + index + 16 * i + 8, 8);
        if (at == UINT64_MAX) continue;
        EXPECT_EQ(at % 4096, 0u) << key;
        EXPECT_GT(size, 0u);
        ++chunks;
      }
      EXPECT_GE(bytes.size(), plain->objects.at(key).size());
    }
    EXPECT_EQ(chunks, 27u);
    const auto read = test::read_region(*Array::open(aligned, "a"), {0, 0, 0}, shape);
    EXPECT_EQ(read, elements);
  }
}

TEST(ArrayWriter, RefusesAnAlignmentThatIsNone) {
  ArrayWriter writer(std::make_shared<test::MemoryStore>(), "a",
                     test::metadata_of({4}, {4}, DType::uint8, Codecs::zstd(DType::uint8, 1)));
  for (const std::size_t bytes : {0, 3, 4095, 1 << 21}) {
    const auto text = error_of(ErrorCode::usage, [&] { writer.align_chunks(bytes); });
    EXPECT_NE(text.find("expected a power of two up to 1048576"), text.npos) << text;
  }
}

}  // namespace
}  // namespace headrace::zarr
