#include "headrace/zarr/array.hpp"

#include <cmath>
#include <nlohmann/json.hpp>

#include "headrace/zarr/defaults.hpp"
#include "tests/zarr/zarr_test_data.hpp"

namespace headrace::zarr {
namespace {

using test::MemoryStore;
using test::named;
using test::Shape;

const Shape kShape{3, 70, 90};

Json interleaved(Json inner) {
  inner.insert(inner.begin(), named("transpose", {{"order", {1, 2, 0}}}));
  return inner;
}

// A (c, y, x) image as slides are stored, with shards that reach past the edge.
class SlideArray : public ::testing::Test {
 protected:
  SlideArray() {
    ArrayMetadata metadata = test::metadata_of(
        kShape, {3, 32, 64}, DType::uint8,
        Codecs::sharded({3, 16, 16},
                        interleaved(Codecs::blosc_zstd(DType::uint8, 1, "noshuffle", 384))));
    metadata.fill_value = {std::byte{9}};
    elements_ = test::smooth_bytes(3 * 70 * 90, 4);
    test::write_array(store_, "a", metadata, elements_);
    array_ = Array::open(store_, "a");
  }

  std::shared_ptr<MemoryStore> store_ = std::make_shared<MemoryStore>();
  std::vector<std::byte> elements_;
  std::shared_ptr<const Array> array_;
};

TEST_F(SlideArray, KnowsItsMetadataAndUnit) {
  EXPECT_EQ(array_->metadata().shape, kShape);
  EXPECT_EQ(array_->inner_chunk_shape(), (Shape{3, 16, 16}));
  EXPECT_EQ(array_->path(), "a");
}

TEST_F(SlideArray, RandomRegionsAreThoseOfTheWholeInAnyLayout) {
  std::mt19937 generator(3);
  for (int trial = 0; trial < 300; ++trial) {
    Shape origin, size;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      size.push_back(1 +
                     static_cast<std::int64_t>(generator() % static_cast<unsigned>(kShape[axis])));
      origin.push_back(static_cast<std::int64_t>(
          generator() % static_cast<unsigned>(kShape[axis] - size[axis] + 1)));
    }
    const auto want = test::expected_region(elements_, kShape, 1, origin, size);
    ASSERT_EQ(test::read_region(*array_, origin, size), want) << trial;
    // Interleaved rows with a gap after each.
    const std::int64_t row = size[2] * size[0] + 5;
    std::vector<std::byte> rows(static_cast<std::size_t>(row * size[1]), std::byte{0xee});
    array_->read({origin, size, rows.data(), {1, row, size[0]}, {}});
    for (std::int64_t i = 0; i < test::count_of(size); ++i) {
      const std::int64_t c = i / (size[1] * size[2]), y = i / size[2] % size[1], x = i % size[2];
      ASSERT_EQ(rows[static_cast<std::size_t>(y * row + x * size[0] + c)],
                want[static_cast<std::size_t>(i)]);
    }
    for (std::int64_t y = 0; y < size[1]; ++y) {
      ASSERT_EQ(rows[static_cast<std::size_t>(y * row + row - 1)], std::byte{0xee});
    }
  }
}

TEST_F(SlideArray, OutsideReadsAsFillValue) {
  for (const Shape& origin :
       {Shape{0, -20, -20}, Shape{0, 60, 80}, Shape{-1, 5, 5}, Shape{0, 500, 0},
        Shape{0, std::int64_t{1} << 60, 0}, Shape{0, -(std::int64_t{1} << 60), 0}}) {
    const Shape size{4, 40, 40};
    auto want = test::expected_region(elements_, kShape, 1, origin, size);
    for (std::int64_t i = 0; i < test::count_of(size); ++i) {
      const std::int64_t c = origin[0] + i / 1600, y = origin[1] + i / 40 % 40,
                         x = origin[2] + i % 40;
      if (c < 0 || c >= 3 || y < 0 || y >= 70 || x < 0 || x >= 90) {
        want[static_cast<std::size_t>(i)] = std::byte{9};
      }
    }
    EXPECT_EQ(test::read_region(*array_, origin, size), want);
  }
}

TEST_F(SlideArray, EmptyRegionsTouchNothing) {
  array_->read({{0, 0, 0}, {3, 0, 10}, nullptr, {1, 30, 3}, {}});
}

TEST_F(SlideArray, RegionsOfAnotherRankAreRefused) {
  std::byte byte;
  error_of(ErrorCode::usage, [&] { array_->read({{0, 0}, {1, 1}, &byte, {1, 1}, {}}); });
  error_of(ErrorCode::usage, [&] { array_->read({{0, 0, 0}, {1, -1, 1}, &byte, {1, 1, 1}, {}}); });
  const std::vector<RowSpan> spans(3);
  error_of(ErrorCode::usage, [&] {
    array_->read({{0, 0, 0}, {1, 2, 1}, &byte, {1, 1, 1}, spans});
  });
}

TEST_F(SlideArray, RowSpansReadOnlyTheChunksThatTheyTouch) {
  const Shape size{3, 64, 80};
  const auto want = test::expected_region(elements_, kShape, 1, {0, 3, 5}, size);
  std::vector<RowSpan> spans;  // a turned square
  for (int y = 0; y < 64; ++y) {
    const int half = 30 - std::abs(y - 32);
    spans.push_back(half > 0 ? RowSpan{40 - half, 40 + half} : RowSpan{});
  }
  ThreadPool pool(1);
  const auto read = [&](std::span<const RowSpan> wanted) {
    std::vector<std::byte> out(3 * 64 * 80);
    BatchRead batch;
    batch.add(array_, {{0, 3, 5}, size, out.data(), test::c_strides(size, 1), wanted});
    batch.fetch(pool);
    batch.decode(0);
    for (int c = 0; c < 3; ++c) {
      for (int y = 0; y < 64; ++y) {
        for (int x = 0; x < 80; ++x) {
          const auto i = static_cast<std::size_t>((c * 64 + y) * 80 + x);
          const bool seen = wanted.empty() || (x >= spans[static_cast<std::size_t>(y)].begin &&
                                               x < spans[static_cast<std::size_t>(y)].end);
          if (seen) {
            EXPECT_EQ(out[i], want[i]);
          }
        }
      }
    }
    return batch.stats().chunks_decoded;
  };
  const auto all = read({}), some = read(spans);
  EXPECT_LT(some, all);
  EXPECT_EQ(all, 30U);  // rows 3..66 meet 5 rows of chunks, columns 5..84 meet 6 columns
}

TEST_F(SlideArray, ABatchGivesWhatSingleReadsGiveOnAnyNumberOfThreads) {
  std::vector<std::vector<std::byte>> want, got(20, std::vector<std::byte>(3 * 24 * 24));
  std::vector<Shape> origins;
  std::mt19937 generator(9);
  for (std::size_t i = 0; i < got.size(); ++i) {
    origins.push_back({0, static_cast<std::int64_t>(generator() % 60) - 5,
                       static_cast<std::int64_t>(generator() % 80) - 5});
    want.push_back(test::read_region(*array_, origins.back(), {3, 24, 24}));
  }
  BatchRead batch;
  for (const int threads : {1, 2, 7}) {
    ThreadPool pool(threads);
    batch.clear();
    for (std::size_t i = 0; i < got.size(); ++i) {
      EXPECT_EQ(batch.add(array_, {origins[i], {3, 24, 24}, got[i].data(), {576, 24, 1}, {}}), i);
    }
    batch.fetch(pool);
    pool.parallel_for(got.size(), [&](std::size_t i) { batch.decode(i); });
    EXPECT_EQ(got, want) << threads;
    EXPECT_GT(batch.stats().ranges_wanted, batch.stats().ranges_issued);
  }
}

TEST_F(SlideArray, ARegionIsDecodedIntoOtherMemoryAsWell) {
  const Shape size{3, 24, 24};
  std::vector<std::byte> out(3 * 24 * 24);
  ThreadPool pool(1);
  BatchRead batch;
  batch.add(array_, {{0, 60, 80}, size, nullptr, test::c_strides(size, 1), {}});
  batch.fetch(pool);
  batch.decode(0, out.data());
  EXPECT_EQ(out, test::read_region(*array_, {0, 60, 80}, size));
}

TEST_F(SlideArray, NeighbouringRangesAreReadAsOneAndNoByteTwice) {
  test::read_region(*array_, {0, 0, 0}, {3, 1, 1});  // the index of the shard is cached now
  store_->reads.clear();
  std::vector<std::byte> out(3 * 32 * 64);
  ThreadPool pool(1);
  BatchRead batch;
  for (int i = 0; i < 3; ++i) {
    batch.add(array_, {{0, 0, 0}, {3, 32, 64}, out.data(), test::c_strides({3, 32, 64}, 1), {}});
  }
  batch.fetch(pool);
  EXPECT_EQ(store_->reads.size(), 1U);
  EXPECT_EQ(batch.stats().ranges_wanted, 24U);
  EXPECT_EQ(batch.stats().ranges_issued, 1U);
  EXPECT_LE(store_->reads[0].second, store_->objects["a/c/0/0/0"].size());
}

TEST_F(SlideArray, MissingShardsReadAsFillValue) {
  store_->erase("a/c/0/0/0");
  const auto got = test::read_region(*array_, {0, 0, 0}, {3, 32, 64});
  EXPECT_EQ(got, std::vector<std::byte>(3 * 32 * 64, std::byte{9}));
}

TEST_F(SlideArray, AnArrayThatIsGoneIsNoFillValue) {
  for (const std::string& key : store_->list("a")) store_->erase(key);
  try {
    test::read_region(*array_, {0, 0, 0}, {3, 40, 40});
    FAIL() << "a removed array was read";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::not_found);
    EXPECT_NE(std::string(error.what()).find("store was removed"), std::string::npos)
        << error.what();
  }
}

TEST_F(SlideArray, DamageIsNamedByArrayChunkBytesAndCheck) {
  auto& shard = store_->objects["a/c/0/1/0"];
  shard[20] ^= std::byte{0xff};
  std::string text;
  for (int y = 32; y < 64 && text.empty(); y += 16) {
    for (int x = 0; x < 64 && text.empty(); x += 16) {
      try {
        test::read_region(*Array::open(store_, "a"), {0, y, x}, {3, 16, 16});
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::corrupt);
        text = error.what();
      }
    }
  }
  EXPECT_NE(text.find("chunk c/0/1/0 of memory:a, inner chunk 0/"), std::string::npos) << text;
  EXPECT_NE(text.find("(bytes "), std::string::npos) << text;
  EXPECT_NE(text.find("codec blosc"), std::string::npos) << text;
}

TEST_F(SlideArray, ADamagedIndexIsFoundByItsChecksum) {
  auto& shard = store_->objects["a/c/0/0/0"];
  shard[shard.size() - 20] ^= std::byte{1};
  const std::string text = error_of(ErrorCode::corrupt, [&] {
    test::read_region(*array_, {0, 0, 0}, {3, 4, 4});
  });
  EXPECT_NE(text.find("chunk c/0/0/0 of memory:a: the shard's index: stored crc32c"),
            std::string::npos)
      << text;
}

TEST_F(SlideArray, TheSameRegionFailsWithTheSameErrorOnAnyNumberOfThreads) {
  for (auto& [key, bytes] : store_->objects) {
    if (key != "a/zarr.json") bytes.resize(bytes.size() / 2);
  }
  std::vector<std::string> texts;
  for (const int threads : {1, 2, 7}) {
    ThreadPool pool(threads);
    std::vector<std::byte> out(3 * 70 * 90);
    BatchRead batch;
    batch.add(array_, {{0, 0, 0}, kShape, out.data(), test::c_strides(kShape, 1), {}});
    batch.fetch(pool);
    texts.push_back(error_of(ErrorCode::corrupt, [&] { batch.decode(0); }));
  }
  EXPECT_EQ(texts[0], texts[1]);
  EXPECT_EQ(texts[0], texts[2]);
}

// Every byte range of an index pointed elsewhere, with its checksum off: nothing is read past the
// end.
TEST(Array, IndexEntriesPastTheEndAreCorruptAndNothingIsAllocated) {
  const auto store = std::make_shared<MemoryStore>();
  Json codecs = Codecs::sharded({1, 8}, Json::array({named("bytes")}));
  codecs[0]["configuration"]["index_codecs"] =
      Json::array({named("bytes", {{"endian", "little"}})});
  const auto metadata = test::metadata_of({1, 16}, {1, 16}, DType::uint8, codecs);
  const auto elements = test::smooth_bytes(16, 1);
  test::write_array(store, "a", metadata, elements);
  auto& shard = store->objects["a/c/0/0"];
  const std::size_t index = shard.size() - 32;
  for (const auto& [offset, size] :
       std::vector<std::pair<std::uint64_t, std::uint64_t>>{{1U << 20, 8},
                                                            {0, std::uint64_t{1} << 60},
                                                            {UINT64_MAX - 4, 8},
                                                            {0, UINT64_MAX},
                                                            {shard.size() - 7, 8},
                                                            {0, 7}}) {
    std::memcpy(shard.data() + index, &offset, 8);
    std::memcpy(shard.data() + index + 8, &size, 8);
    error_of(ErrorCode::corrupt, [&] {
      test::read_region(*Array::open(store, "a"), {0, 0}, {1, 16});
    });
  }
}

TEST(Array, MissingArraysAndBrokenMetadataAreNamed) {
  const auto store = std::make_shared<MemoryStore>();
  EXPECT_NE(error_of(ErrorCode::not_found, [&] { Array::open(store, "x/0"); }).find("x/0"),
            std::string::npos);
  store->put_text("x/0/zarr.json", "{\"zarr_format\": 3,");
  EXPECT_NE(
      error_of(ErrorCode::malformed, [&] { Array::open(store, "x/0"); }).find("x/0/zarr.json"),
      std::string::npos);
}

TEST(Array, MetadataNestedWithoutEndAreRefused) {
  const auto store = std::make_shared<MemoryStore>();
  store->put_text("a/zarr.json", "{\"shape\": " + std::string(2000000, '['));
  EXPECT_NE(error_of(ErrorCode::malformed, [&] { Array::open(store, "a"); }).find("nested deeper"),
            std::string::npos);
  Json codecs = Json::array({named("bytes")});
  for (int level = 0; level < 5; ++level) codecs = Codecs::sharded({8, 8}, codecs);
  const auto metadata = test::metadata_of({8, 8}, {8, 8}, DType::uint8, codecs);
  store->put_text("b/zarr.json", dump_json(metadata.to_json()));
  EXPECT_NE(
      error_of(ErrorCode::unsupported, [&] { Array::open(store, "b"); }).find("in each other"),
      std::string::npos);
}

TEST(Array, MetadataWithFlippedBytesNeverCrashes) {
  const auto store = std::make_shared<MemoryStore>();
  const auto metadata = test::metadata_of(
      {3, 64, 64}, {3, 32, 32}, DType::uint8,
      Codecs::sharded({3, 16, 16}, interleaved(Codecs::blosc_zstd(DType::uint8, 1, "noshuffle"))));
  const auto elements = test::smooth_bytes(3 * 64 * 64, 8);
  test::write_array(store, "a", metadata, elements);
  const auto good = store->objects["a/zarr.json"];
  std::mt19937 generator(23);
  for (int trial = 0; trial < 3000; ++trial) {
    auto damaged = good;
    damaged[generator() % damaged.size()] =
        static_cast<std::byte>(trial % 2 == 0 ? '0' + generator() % 10 : generator() % 256);
    store->objects["a/zarr.json"] = damaged;
    try {
      test::read_region(*Array::open(store, "a"), {0, 10, 10}, {3, 30, 30});
    } catch (const Error&) {
    }
  }
}

TEST(Array, ScalarsAndArraysWithoutShardingAreRead) {
  const auto store = std::make_shared<MemoryStore>();
  const std::vector<std::byte> value(4, std::byte{5});
  const Json codecs = Json::array({named("bytes", {{"endian", "big"}})});
  test::write_array(store, "s", test::metadata_of({}, {}, DType::uint32, codecs), value);
  EXPECT_TRUE(store->objects.contains("s/c"));
  EXPECT_EQ(test::read_region(*Array::open(store, "s"), {}, {}), value);
  const auto elements = test::smooth_bytes(4 * 7 * 9, 2);
  auto metadata = test::metadata_of({7, 9}, {3, 4}, DType::uint32, codecs);
  metadata.v2_keys = true;
  metadata.separator = '.';
  test::write_array(store, "m", metadata, elements);
  EXPECT_TRUE(store->objects.contains("m/2.2"));
  EXPECT_EQ(test::read_region(*Array::open(store, "m"), {0, 0}, {7, 9}), elements);
}

}  // namespace
}  // namespace headrace::zarr
