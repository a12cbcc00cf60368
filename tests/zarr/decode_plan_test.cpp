// A decode plan, carried out by libzstd, liblz4 and libjpeg with our own placement, gives what
// Array::read gives.
#include <random>

#include "headrace/zarr/defaults.hpp"
#include "tests/zarr/host_decoder.hpp"
#include "tests/zarr/zarr_test_data.hpp"

namespace headrace::zarr {
namespace {

using test::Shape;

struct Layout {
  const char* name;
  Shape shape, chunk;
  DType dtype;
  Json codecs;
};

Json in_shards(const Shape& inner, const Json& codecs) { return Codecs::sharded(inner, codecs); }

Json interleaved(Json codecs) {
  Json all = Json::array({test::named("transpose", {{"order", {1, 2, 0}}})});
  for (Json& codec : codecs) all.push_back(codec);
  return all;
}

std::vector<Layout> layouts() {
  std::vector<Layout> all;
  const Shape slide{3, 400, 333}, slide_shard{3, 256, 256}, slide_inner{3, 128, 128};
  const auto add_slide = [&](const char* name, const Json& codecs) {
    all.push_back({name, slide, slide_shard, DType::uint8, in_shards(slide_inner, codecs)});
  };
  const auto add_volume = [&](const char* name, DType dtype, const Json& codecs) {
    all.push_back({name, {70, 90, 75}, {64, 64, 64}, dtype, in_shards({32, 32, 32}, codecs)});
  };
  const Json slide_blosc =
      Codecs::blosc_zstd(DType::uint8, kSlideBloscLevel, kSlideBloscShuffle, kSlideBloscBlockBytes);
  add_slide("slides' default", interleaved(slide_blosc));
  add_slide("slide in planes", slide_blosc);
  add_slide("slide as zstd, checked", interleaved(Codecs::checked(Codecs::zstd(DType::uint8, 3))));
  add_slide("slide as JPEG", interleaved(Codecs::jpeg(90)));
  add_slide("slide as it is", interleaved(Json::array({test::named("bytes")})));
  add_volume("volumes' default", DType::int16,
             Codecs::checked(Codecs::blosc(kVolumeLz4Compressor, DType::int16, kVolumeLz4Level,
                                           kVolumeBloscShuffle, kVolumeLz4BlockBytes)));
  add_volume("volumes' blosc-zstd", DType::int16,
             Codecs::checked(Codecs::blosc_zstd(DType::int16, kVolumeBloscLevel,
                                                kVolumeBloscShuffle, kVolumeZstdBlockBytes)));
  add_volume("volume as zstd", DType::int16, Codecs::zstd(DType::int16, kVolumeZstdLevel));
  for (const DType dtype : {DType::int16, DType::float32, DType::uint64}) {
    // libblosc writes these, a stream for each byte of an element.
    add_volume("split streams", dtype, Codecs::blosc("lz4", dtype, 5, "shuffle"));
    add_volume("byte shuffle", dtype, Codecs::blosc_zstd(dtype, 3, "shuffle"));
  }
  all.push_back({"one chunk an object",
                 {50, 60, 70},
                 {32, 30, 23},
                 DType::int16,
                 Codecs::checked(Codecs::blosc("lz4", DType::int16, 5, "bitshuffle"))});
  all.push_back({"six axes",
                 {2, 3, 10, 4, 12, 11},
                 {1, 2, 6, 3, 5, 7},
                 DType::uint16,
                 Codecs::blosc("lz4", DType::uint16, 5, "bitshuffle")});
  all.push_back(
      {"incompressible", {65, 65}, {40, 40}, DType::uint16, Codecs::zstd(DType::uint16, 1)});
  all.push_back(
      {"one element a chunk", {5, 4}, {1, 1}, DType::float32, Codecs::zstd(DType::float32, 1)});
  return all;
}

// Smooth values with noise in the low byte, an empty corner, and a part that nothing compresses.
std::vector<std::byte> elements_of(const Layout& layout) {
  const std::size_t item = size_of(layout.dtype);
  const auto count = static_cast<std::size_t>(test::count_of(layout.shape)) * item;
  std::vector<std::byte> out = test::smooth_bytes(count, 7);
  std::mt19937 generator(11);
  const bool noise = std::string(layout.name) == "incompressible";
  for (std::size_t i = 0; i < count; ++i) {
    if (noise || i > count / 8 * 7) out[i] = static_cast<std::byte>(generator());
    if (!noise && i < count / 6) out[i] = std::byte{0};
  }
  return out;
}

struct Request {
  Shape origin, size, strides;
  std::uint64_t at;
};

// Regions inside, across the edges and outside; every second one in another order of axes.
std::vector<Request> requests_of(const Layout& layout, unsigned seed, std::uint64_t& total) {
  std::mt19937 generator(seed);
  const auto item = static_cast<std::int64_t>(size_of(layout.dtype));
  std::vector<Request> out;
  total = 0;
  for (int i = 0; i < 12; ++i) {
    Request request;
    for (const std::int64_t edge : layout.shape) {
      request.origin.push_back(
          static_cast<std::int64_t>(generator() % static_cast<unsigned>(edge + 6)) - 5);
      request.size.push_back(1 +
                             static_cast<std::int64_t>(generator() % static_cast<unsigned>(edge)));
    }
    if (i == 0) request.origin.assign(request.origin.size(), 1000);
    if (i == 1) {
      request.origin.assign(request.origin.size(), 0);
      request.size = layout.shape;
    }
    request.strides = test::c_strides(request.size, item);
    if (i % 2 == 1) {  // the first axis innermost, as interleaved pixels have it
      std::int64_t step = item * request.size[0];
      request.strides[0] = item;
      for (std::size_t axis = request.size.size(); axis-- > 1; step *= request.size[axis]) {
        request.strides[axis] = step;
      }
    }
    total = (total + 63) / 64 * 64 + 3;
    request.at = total;
    total += static_cast<std::uint64_t>(test::count_of(request.size) * item);
    out.push_back(std::move(request));
  }
  return out;
}

std::shared_ptr<test::MemoryStore> stored(const Layout& layout) {
  auto store = std::make_shared<test::MemoryStore>();
  test::write_array(store, "a",
                    test::metadata_of(layout.shape, layout.chunk, layout.dtype, layout.codecs),
                    elements_of(layout));
  return store;
}

TEST(DecodePlan, GivesWhatArrayReadGives) {
  ThreadPool pool(3);
  for (const Layout& layout : layouts()) {
    SCOPED_TRACE(layout.name);
    const auto array = Array::open(stored(layout), "a");
    ASSERT_EQ(array->host_only(), "");
    BatchRead batch;
    DecodePlan plan;
    for (unsigned seed = 1; seed <= 3; ++seed) {
      std::uint64_t total = 0;
      const std::vector<Request> requests = requests_of(layout, seed, total);
      std::vector<std::byte> expected(total, std::byte{0xcd}), windows = expected;
      std::vector<std::uint64_t> at;
      batch.clear();
      for (const Request& request : requests) {
        array->read(
            {request.origin, request.size, expected.data() + request.at, request.strides, {}});
        batch.add(array, {request.origin, request.size, nullptr, request.strides, {}});
        at.push_back(request.at);
      }
      batch.fetch(pool);
      batch.plan_decode(pool, at, plan);
      test::decode_on_host(plan, batch.encoded(), windows);
      ASSERT_EQ(windows, expected) << "seed " << seed;
    }
  }
}

TEST(DecodePlan, DecodesAChunkOnceAndOnlyTheBlocksItNeeds) {
  const Layout layout = layouts().front();
  const auto array = Array::open(stored(layout), "a");
  ThreadPool pool(1);
  BatchRead batch;
  const Shape size{3, 10, 20}, strides = test::c_strides(size, 1);
  for (int i = 0; i < 4; ++i) batch.add(array, {{0, 300 + i, 130}, size, nullptr, strides, {}});
  batch.fetch(pool);
  DecodePlan plan;
  batch.plan_decode(pool, std::vector<std::uint64_t>{0, 600, 1200, 1800}, plan);
  ASSERT_EQ(plan.chunks.size(), 1u);
  ASSERT_EQ(plan.segments.size(), 1u);  // 300 - 256 = 44, in the first 64 rows
  EXPECT_EQ(plan.segments[0].decoded_size, static_cast<std::uint64_t>(kSlideBloscBlockBytes));
  EXPECT_EQ(plan.places.size(), 4u);
  EXPECT_NE(batch.describe(plan.chunks[0]).find("inner chunk 0/0/1 (bytes "), std::string::npos)
      << batch.describe(plan.chunks[0]);
}

TEST(DecodePlan, ReadsIntoMemoryThatIsLent) {
  const Layout layout = layouts()[5];
  const auto array = Array::open(stored(layout), "a");
  ThreadPool pool(2);
  BatchRead batch;
  std::vector<std::byte> lent;
  batch.read_into([&](std::size_t size) {
    lent.assign(size, std::byte{});
    return lent.data();
  });
  const Shape size{40, 40, 40}, strides = test::c_strides(size, 2);
  std::vector<std::byte> windows(2 * 64000), expected(2 * 64000);
  batch.add(array, {{20, 20, 20}, size, nullptr, strides, {}});
  batch.fetch(pool);
  DecodePlan plan;
  batch.plan_decode(pool, std::vector<std::uint64_t>{0}, plan);
  ASSERT_EQ(batch.encoded(), lent.data());
  EXPECT_EQ(plan.encoded_bytes, lent.size());
  test::decode_on_host(plan, lent.data(), windows);
  array->read({{20, 20, 20}, size, expected.data(), strides, {}});
  EXPECT_EQ(windows, expected);
}

TEST(DecodePlan, LeavesToTheHostWhatOnlyItDecodes) {
  const Shape shape{64, 64};
  const auto told = [&](const Json& codecs, DType dtype) {
    const Layout layout{"", shape, shape, dtype, codecs};
    return Array::open(stored(layout), "a")->host_only();
  };
  const Json gzip = test::named("gzip", {{"level", 1}});
  const Json big = test::named("bytes", {{"endian", "big"}});
  EXPECT_EQ(told(Json::array({test::named("bytes"), gzip}), DType::uint8),
            "bytes→bytes codec 1 of the chunk");
  EXPECT_EQ(told(Json::array({big}), DType::int16), "the array→bytes codec of the chunk");
  Json twice = Codecs::zstd(DType::uint8, 1);
  twice.push_back(test::named("zstd", {{"level", 1}}));
  EXPECT_EQ(told(twice, DType::uint8), "bytes→bytes codec 2 of the chunk");
}

// The error of planning a batch that reads all of an array whose one object was changed.
std::string error_after(const Layout& layout, ErrorCode code,
                        const std::function<void(std::vector<std::byte>&)>& damage) {
  const auto store = stored(layout);
  damage(store->objects.at("a/c/0/0"));
  const auto array = Array::open(store, "a");
  ThreadPool pool(2);
  BatchRead batch;
  const auto item = static_cast<std::int64_t>(size_of(layout.dtype));
  batch.add(array, {{0, 0}, layout.shape, nullptr, test::c_strides(layout.shape, item), {}});
  batch.fetch(pool);
  DecodePlan plan;
  return test::error_of(code,
                        [&] { batch.plan_decode(pool, std::vector<std::uint64_t>{0}, plan); });
}

void set32(std::vector<std::byte>& bytes, std::size_t at, std::int32_t value) {
  std::memcpy(bytes.data() + at, &value, 4);
}

std::int32_t get32(const std::vector<std::byte>& bytes, std::size_t at) {
  std::int32_t value;
  std::memcpy(&value, bytes.data() + at, 4);
  return value;
}

TEST(DecodePlan, NamesDamageBeforeAnythingIsDecoded) {
  const Shape shape{100, 100};
  const Json zstd = Codecs::zstd(DType::uint8, 1),
             blosc = Codecs::blosc_zstd(DType::uint8, 1, "noshuffle", 2500);
  const Layout checked{"checked", shape, shape, DType::uint8, Codecs::checked(blosc)};
  const Layout plain{"zstd", shape, shape, DType::uint8, zstd},
      framed{"blosc", shape, shape, DType::uint8, blosc};
  const Layout image{"jpeg", shape, shape, DType::uint8, Codecs::jpeg(90)};
  using Bytes = std::vector<std::byte>;
  const auto expect = [](const std::string& text, const char* part) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
    EXPECT_NE(text.find("chunk c/0/0 of memory:a (bytes 0-"), std::string::npos) << text;
  };
  const ErrorCode corrupt = ErrorCode::corrupt;
  expect(error_after(checked, corrupt, [](Bytes& b) { b[50] ^= std::byte{1}; }), "stored crc32c");
  expect(error_after(plain, corrupt, [](Bytes& b) { b[0] = std::byte{0}; }),
         "do not begin with a zstd frame");
  expect(error_after(plain, corrupt, [](Bytes& b) { b.resize(b.size() - 3); }), "zstd: ");
  expect(error_after(plain, ErrorCode::unsupported,
                     [](Bytes& b) { b.insert(b.end(), b.begin(), b.end()); }),
         "more than one frame");
  expect(error_after(framed, corrupt, [](Bytes& b) { set32(b, 12, 5); }), "header is damaged");
  expect(error_after(framed, corrupt, [](Bytes& b) { set32(b, 20, -7); }), "block 1 begins at -7");
  expect(error_after(framed, corrupt, [](Bytes& b) { set32(b, 20, 1 << 30); }), "past the end");
  expect(error_after(framed, corrupt,
                     [](Bytes& b) { set32(b, static_cast<std::size_t>(get32(b, 20)), 1 << 20); }),
         "are left");
  expect(error_after(framed, corrupt,
                     [](Bytes& b) { set32(b, static_cast<std::size_t>(get32(b, 20)), 0); }),
         "codec blosc: the block at byte");
  expect(
      error_after(framed, corrupt,
                  [](Bytes& b) { b[static_cast<std::size_t>(get32(b, 20)) + 4] = std::byte{0}; }),
      "zstd: ");
  expect(error_after(image, corrupt, [](Bytes& b) { b.resize(20); }), "codec imagecodecs_jpeg: ");
  const Layout other{"jpeg", {90, 100}, {90, 100}, DType::uint8, Codecs::jpeg(90)};
  const auto smaller = stored(other)->objects.at("a/c/0/0");
  expect(error_after(image, corrupt, [&](Bytes& b) { b = smaller; }), "the image is 90x100");
}

// Any one byte of a frame changed: an error in one sentence, or a plan that stays inside its
// buffers.
TEST(DecodePlan, StaysInsideWhateverAFrameSays) {
  for (const char* shuffle : {"noshuffle", "shuffle", "bitshuffle"}) {
    const Shape shape{60, 60};
    const Layout layout{"", shape, shape, DType::int16,
                        Codecs::blosc("lz4", DType::int16, 5, shuffle, 1024)};
    const auto store = stored(layout);
    const auto whole = store->objects.at("a/c/0/0");
    ThreadPool pool(1);
    for (std::size_t at = 0; at < std::min<std::size_t>(whole.size(), 400); ++at) {
      auto& bytes = store->objects.at("a/c/0/0") = whole;
      bytes[at] ^= std::byte{0x41};
      const auto array = Array::open(store, "a");
      BatchRead batch;
      batch.add(array, {{0, 0}, shape, nullptr, test::c_strides(shape, 2), {}});
      batch.fetch(pool);
      DecodePlan plan;
      try {
        batch.plan_decode(pool, std::vector<std::uint64_t>{0}, plan);
      } catch (const Error& error) {
        ASSERT_NE(std::string(error.what()).find("chunk c/0/0"), std::string::npos) << error.what();
        continue;
      }
      std::vector<std::byte> decoded(plan.decoded_bytes), windows(2 * 3600);
      for (const DecodePlan::Segment& segment : plan.segments) {
        ASSERT_LE(segment.offset + segment.size, plan.encoded_bytes);
        ASSERT_LE(segment.decoded_offset + segment.decoded_size, plan.decoded_bytes);
      }
      test::run_placements(plan.copies, batch.encoded(), decoded.data(), decoded.data());
      test::run_placements(plan.places, batch.encoded(), decoded.data(), windows.data());
    }
  }
}

}  // namespace
}  // namespace headrace::zarr
