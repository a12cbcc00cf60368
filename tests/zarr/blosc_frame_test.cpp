#include "headrace/zarr/codec/blosc_frame.hpp"

#include <blosc.h>
#include <gtest/gtest.h>

#include <random>

#include "headrace/core/error.hpp"
#include "tests/zarr/zarr_test_data.hpp"

namespace headrace::zarr {
namespace {

struct Kind {
  const char* cname;
  BloscCompressor compressor;
  int shuffle;  // blosc.h's
  BloscFilter filter;
  int typesize;
};

std::string text_of(const Kind& kind, int level, std::size_t size) {
  return fmt::format("{}, shuffle {} of {}, level {}, {} bytes", kind.cname, kind.shuffle,
                     kind.typesize, level, size);
}

std::vector<Kind> kinds() {
  std::vector<Kind> all;
  for (const int typesize : {1, 2, 3, 4, 8, 17}) {
    all.push_back({"zstd", BloscCompressor::zstd, BLOSC_SHUFFLE, BloscFilter::bytes, typesize});
    all.push_back({"lz4", BloscCompressor::lz4, BLOSC_SHUFFLE, BloscFilter::bytes, typesize});
    all.push_back({"lz4hc", BloscCompressor::lz4hc, BLOSC_NOSHUFFLE, BloscFilter::none, typesize});
  }
  all.push_back({"zstd", BloscCompressor::zstd, BLOSC_BITSHUFFLE, BloscFilter::bits, 2});
  all.push_back({"lz4", BloscCompressor::lz4, BLOSC_BITSHUFFLE, BloscFilter::bits, 2});
  all.push_back({"lz4hc", BloscCompressor::lz4hc, BLOSC_BITSHUFFLE, BloscFilter::bits, 2});
  return all;
}

std::vector<std::byte> libblosc_frame(const Kind& kind, int level,
                                      std::span<const std::byte> data) {
  std::vector<std::byte> frame(data.size() + BLOSC_MAX_OVERHEAD);
  const int packed =
      blosc_compress_ctx(level, kind.shuffle, static_cast<std::size_t>(kind.typesize), data.size(),
                         data.data(), frame.data(), frame.size(), kind.cname, 0, 1);
  EXPECT_GT(packed, 0);
  frame.resize(static_cast<std::size_t>(std::max(packed, 0)));
  return frame;
}

// Bytes of a CT: 16-bit values near each other with noise in the low bits, ends included.
std::vector<std::byte> voxels(std::size_t size, unsigned seed) {
  std::mt19937 generator(seed);
  std::vector<std::byte> data(size);
  int value = -500;
  for (std::size_t i = 0; i + 1 < size; i += 2) {
    value = std::clamp(value + static_cast<int>(generator() % 9) - 4, -1024, 3071);
    const auto noisy = static_cast<std::int16_t>(value + static_cast<int>(generator() % 40));
    std::memcpy(data.data() + i, &noisy, 2);
  }
  return data;
}

TEST(BloscFrame, AnEmptyOneOfNegativeBlocksIsDamaged) {
  std::vector<std::byte> frame(16);
  frame[0] = std::byte{2};
  frame[1] = std::byte{1};
  frame[3] = std::byte{2};
  frame[12] = std::byte{16};
  EXPECT_NO_THROW(BloscHeader::parse(frame));
  for (std::size_t i = 8; i < 12; ++i) frame[i] = std::byte{0xFF};
  EXPECT_THROW(BloscHeader::parse(frame), Error);
}

TEST(BloscFrame, OfLibbloscIsRead) {
  for (const Kind& kind : kinds()) {
    for (const int level : {1, 5, 9}) {
      for (const std::size_t size : {128, 129, 146, 5000, 40000, 100001, 100016}) {
        SCOPED_TRACE(text_of(kind, level, size));
        const auto data = voxels(size, static_cast<unsigned>(size));
        const auto frame = libblosc_frame(kind, level, data);
        const BloscHeader header = BloscHeader::parse(frame);
        if (header.stored) continue;
        ASSERT_TRUE(decodes_blosc(header));
        std::vector<std::byte> out(size);
        decode_blosc(frame, header, {0, size}, out.data());
        ASSERT_EQ(out, data);
      }
    }
  }
}

TEST(BloscFrame, OfOursIsReadByLibblosc) {
  for (const Kind& kind : kinds()) {
    for (const int level : {0, 1, 5, 9}) {
      for (const std::size_t size : {1, 100, 127, 128, 130, 5000, 40000, 100001, 100016}) {
        for (const int block : {0, 200, 16384}) {
          SCOPED_TRACE(text_of(kind, level, size) + fmt::format(", blocks of {}", block));
          const auto data = voxels(size, static_cast<unsigned>(size) + 1);
          std::vector<std::byte> frame, out(size);
          encode_blosc(data, {kind.compressor, level, kind.filter, kind.typesize, block}, frame);
          ASSERT_EQ(blosc_decompress_ctx(frame.data(), out.data(), size, 1),
                    static_cast<int>(size));
          ASSERT_EQ(out, data);
          const BloscHeader header = BloscHeader::parse(frame);
          if (header.stored) continue;
          std::fill(out.begin(), out.end(), std::byte{0});
          decode_blosc(frame, header, {0, size}, out.data());
          ASSERT_EQ(out, data);
        }
      }
    }
  }
}

TEST(BloscFrame, HasLibbloscsBlocksForZstd) {
  for (const int typesize : {1, 2, 3, 4, 8, 17}) {
    for (const int level : {0, 1, 5, 9}) {
      for (const std::size_t size : {1, 100, 127, 128, 5000, 40000, 300001}) {
        const Kind kind{"zstd", BloscCompressor::zstd, BLOSC_SHUFFLE, BloscFilter::bytes, typesize};
        SCOPED_TRACE(text_of(kind, level, size));
        const auto data = test::smooth_bytes(size, static_cast<unsigned>(size));
        const BloscHeader theirs = BloscHeader::parse(libblosc_frame(kind, level, data));
        std::vector<std::byte> frame;
        encode_blosc(data, {kind.compressor, level, kind.filter, typesize, 0}, frame);
        const BloscHeader ours = BloscHeader::parse(frame);
        EXPECT_EQ(ours.block_size, theirs.block_size);
        EXPECT_EQ(ours.stored, theirs.stored);
      }
    }
  }
}

TEST(BloscFrame, APartDecodesOnlyItsBlocks) {
  const auto data = test::smooth_bytes(10000, 1);
  std::vector<std::byte> frame, out(data.size(), std::byte{0xee});
  encode_blosc(data, {BloscCompressor::zstd, 5, BloscFilter::none, 1, 1000}, frame);
  decode_blosc(frame, BloscHeader::parse(frame), {2500, 4001}, out.data());
  EXPECT_TRUE(std::equal(out.begin() + 2000, out.begin() + 5000, data.begin() + 2000));
  EXPECT_EQ(out[1999], std::byte{0xee});
  EXPECT_EQ(out[5000], std::byte{0xee});
}

TEST(BloscFrame, APartOfBitShuffledBlocksIsRight) {
  const auto data = voxels(20000, 3);
  std::mt19937 generator(8);
  for (const Kind& kind : kinds()) {
    std::vector<std::byte> frame;
    encode_blosc(data, {kind.compressor, 3, kind.filter, kind.typesize, 3000}, frame);
    const BloscHeader header = BloscHeader::parse(frame);
    if (header.stored) continue;
    for (int trial = 0; trial < 200; ++trial) {
      std::size_t begin = generator() % data.size(), end = generator() % (data.size() + 1);
      if (begin > end) std::swap(begin, end);
      std::vector<std::byte> out(data.size());
      decode_blosc(frame, header, {begin, end}, out.data());
      const auto at = [](std::size_t i) { return static_cast<std::ptrdiff_t>(i); };
      ASSERT_TRUE(
          std::equal(out.begin() + at(begin), out.begin() + at(end), data.begin() + at(begin)))
          << text_of(kind, 3, data.size()) << " from " << begin << " to " << end;
    }
  }
}

// The purpose of the cut after the noisy planes.
TEST(BloscFrame, ZstdOfBitShuffledVoxelsIsSmallerThanLibbloscs) {
  const auto data = voxels(65536, 4);
  std::vector<std::byte> frame;
  encode_blosc(data, {BloscCompressor::zstd, 3, BloscFilter::bits, 2, 32768}, frame);
  const Kind kind{"zstd", BloscCompressor::zstd, BLOSC_BITSHUFFLE, BloscFilter::bits, 2};
  EXPECT_LT(frame.size(), libblosc_frame(kind, 3, data).size());
}

}  // namespace
}  // namespace headrace::zarr
