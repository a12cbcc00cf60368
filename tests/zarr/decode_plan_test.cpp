// A decode plan, carried out by libzstd, liblz4 and libjpeg with our own placement, gives what
// Array::read gives.
#include "headrace/zarr/defaults.hpp"
#include "tests/zarr/host_decoder.hpp"
#include "tests/zarr/layouts.hpp"

namespace headrace::zarr {
namespace {

using test::Layout;
using test::layouts;
using test::Request;
using test::requests_of;
using test::Shape;
using test::stored;

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
  EXPECT_EQ(told(Json::array({big}), DType::int16), "the array→bytes codec bytes of the chunk");
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
  return error_of(code, [&] { batch.plan_decode(pool, std::vector<std::uint64_t>{0}, plan); });
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
