// place_unit against what libblosc packed: every filter, element size and kind of leftover.
#include "headrace/zarr/placement.hpp"

#include <blosc.h>

#include <random>

#include "headrace/zarr/codec/blosc_frame.hpp"
#include "headrace/zarr/placement_builder.hpp"
#include "tests/zarr/host_decoder.hpp"
#include "tests/zarr/zarr_test_data.hpp"

namespace headrace::zarr {
namespace {

struct Case {
  const char* cname;
  int shuffle, typesize;
  std::size_t size, block;
};

std::vector<std::byte> blosc_frame(const Case& c, std::span<const std::byte> data) {
  std::vector<std::byte> frame(data.size() + BLOSC_MAX_OVERHEAD);
  const int packed =
      blosc_compress_ctx(5, c.shuffle, static_cast<std::size_t>(c.typesize), data.size(),
                         data.data(), frame.data(), frame.size(), c.cname, c.block, 1);
  EXPECT_GT(packed, 0);
  frame.resize(static_cast<std::size_t>(std::max(packed, 0)));
  return frame;
}

Placement unpacked(std::span<const std::byte> frame, std::vector<std::byte>& decoded) {
  const BloscHeader header = BloscHeader::parse(frame);
  ChunkStreams streams;
  split_blosc(frame, header, {0, static_cast<std::size_t>(header.size)}, streams);
  decoded.assign(streams.size, std::byte{0xee});
  for (const ChunkStreams::Stream& stream : streams.streams) {
    if (stream.codec == StreamCodec::stored) {
      std::copy(stream.packed.begin(), stream.packed.end(),
                decoded.begin() + static_cast<std::ptrdiff_t>(stream.at));
    } else {
      decode_stream(stream.codec == StreamCodec::lz4, stream.packed, 0,
                    {decoded.data() + stream.at, stream.size});
    }
  }
  Placement like;
  like.kind = streams.filter == BloscFilter::bits    ? Placement::Kind::bits
              : streams.filter == BloscFilter::bytes ? Placement::Kind::bytes
                                                     : Placement::Kind::copy;
  like.typesize = static_cast<std::uint32_t>(streams.typesize);
  like.block_bytes = static_cast<std::uint32_t>(streams.block_bytes);
  like.chunk_bytes = static_cast<std::uint32_t>(streams.size);
  return like;
}

void check(const Case& c) {
  SCOPED_TRACE(fmt::format("{}, shuffle {} of {}, {} bytes in blocks of {}", c.cname, c.shuffle,
                           c.typesize, c.size, c.block));
  const std::vector<std::byte> data = test::smooth_bytes(c.size, static_cast<unsigned>(c.size));
  const std::vector<std::byte> frame = blosc_frame(c, data);
  if (BloscHeader::parse(frame).stored) return;
  std::vector<std::byte> decoded;
  Placement like = unpacked(frame, decoded);
  std::mt19937 generator(5);
  for (const std::uint8_t item : {1, 2, 4, 8}) {
    const auto count = static_cast<std::int64_t>(c.size / item);
    like.item = item;
    for (int i = 0; i < 6; ++i) {
      const auto begin = i == 0 ? 0 : static_cast<std::int64_t>(generator() % count);
      const auto size =
          i == 0 ? count : 1 + static_cast<std::int64_t>(generator() % (count - begin));
      const std::int64_t step = i % 2 == 0 ? item : item + 3;
      std::vector<std::byte> out(static_cast<std::size_t>(size * step), std::byte{0xcd});
      std::vector<std::byte> expected = out;
      for (std::int64_t e = 0; e < size; ++e) {
        std::memcpy(expected.data() + e * step, data.data() + (begin + e) * item, item);
      }
      std::vector<Placement> placements;
      append_placements(like, {count}, {1, {begin}, {size}}, 0, {step}, placements);
      ASSERT_EQ(placements.size(), 1u);
      test::run_placements(placements, nullptr, decoded.data(), out.data());
      ASSERT_EQ(out, expected) << "elements of " << int{item} << ", " << begin << " and " << size;
    }
  }
}

TEST(Placement, UndoesWhatLibbloscDid) {
  for (const char* cname : {"lz4", "zstd"}) {
    for (const std::size_t size : {600, 1024, 5000, 16384, 40001, 65552, 100017}) {
      for (const std::size_t block : {0, 512, 1000, 16384}) {
        check({cname, BLOSC_NOSHUFFLE, 1, size, block});
        for (const int typesize : {2, 3, 4, 8})
          check({cname, BLOSC_SHUFFLE, typesize, size, block});
        check({cname, BLOSC_BITSHUFFLE, 2, size, block});
      }
    }
  }
}

TEST(Placement, FillsWithTheElementsBytes) {
  Placement fill;
  fill.kind = Placement::Kind::fill;
  fill.item = 2;
  fill.value = 0xfc18;  // -1000
  std::vector<Placement> placements;
  append_placements(fill, {3, 4, 5}, {3, {}, {3, 4, 5}}, 6, {100, 20, 2}, placements);
  std::vector<std::byte> out(400, std::byte{1});
  test::run_placements(placements, nullptr, nullptr, out.data());
  for (std::size_t i = 0; i < out.size(); ++i) {
    const std::size_t in = i - 6;
    const bool inside = i >= 6 && in / 100 < 3 && in % 100 / 20 < 4 && in % 20 < 10;
    const int want = inside ? (in % 2 == 0 ? 0x18 : 0xfc) : 1;
    ASSERT_EQ(std::to_integer<int>(out[i]), want) << i;
  }
}

}  // namespace
}  // namespace headrace::zarr
