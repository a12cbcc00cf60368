#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "headrace/zarr/codec/chain.hpp"
#include "headrace/zarr/codec/imagecodecs_jpeg2k.hpp"
#include "headrace/zarr/metadata.hpp"
#include "tests/core/error_of.hpp"
#include "tests/pixels/jpeg2000_kinds.hpp"
#include "tests/zarr/zarr_test_data.hpp"

namespace headrace::zarr {
namespace {

using pixels::test::encode_jpeg2000;
using pixels::test::noisy_picture;
using testing::HasSubstr;

constexpr std::int64_t kHigh = 48, kWide = 80;

/// As slides are stored: (c, y, x), interleaved by transpose, followed by crc32c.
Json slide_codecs() {
  Json codecs = Json::array({test::named("transpose", {{"order", {1, 2, 0}}})});
  for (const Json& codec : Codecs::checked(Codecs::jpeg2k())) codecs.push_back(codec);
  return codecs;
}
ChunkSpec slide_chunk() { return {DType::uint8, 3, {3, kHigh, kWide}, {std::byte{255}}}; }

std::vector<std::byte> with_checksum(const std::vector<std::byte>& bytes) {
  const ChunkSpec spec{DType::uint8, 1, {static_cast<std::int64_t>(bytes.size())}, {std::byte{0}}};
  const auto chain =
      CodecChain::prepare(Json::array({test::named("bytes"), test::named("crc32c")}), spec, "test");
  std::vector<std::byte> out;
  chain->encode({const_cast<std::byte*>(bytes.data()), {1}}, out);
  return out;
}

TEST(Jpeg2kCodec, DecodesAnyBoxIntoAnyOrder) {
  const pixels::JpegShape shape{kHigh, kWide, 3};
  const auto wanted = noisy_picture(shape);
  const auto chunk = with_checksum(encode_jpeg2000(wanted, {.shape = shape}));
  const auto chain = CodecChain::prepare(slide_codecs(), slide_chunk(), "test");
  const Box boxes[] = {{3, {0, 0, 0}, {3, kHigh, kWide}},
                       {3, {0, 7, 11}, {3, 20, 30}},
                       {3, {1, 0, 33}, {1, kHigh, 5}},
                       {3, {1, 40, 0}, {2, 8, kWide}}};
  for (const Box& box : boxes) {
    const auto [planes, rows, columns] = std::tuple(box.shape[0], box.shape[1], box.shape[2]);
    const Index layouts[] = {{rows * columns, columns, 1}, {1, planes * columns, planes}};
    for (const Index& strides : layouts) {
      std::vector<std::byte> got(static_cast<std::size_t>(planes * rows * columns));
      chain->decode(chunk, box, {got.data(), strides});
      for (std::int64_t c = 0; c < planes; ++c) {
        for (std::int64_t y = 0; y < rows; ++y) {
          for (std::int64_t x = 0; x < columns; ++x) {
            const auto at =
                ((box.origin[1] + y) * kWide + box.origin[2] + x) * 3 + box.origin[0] + c;
            ASSERT_EQ(std::to_integer<int>(got[static_cast<std::size_t>(
                          c * strides[0] + y * strides[1] + x * strides[2])]),
                      wanted[static_cast<std::size_t>(at)]);
          }
        }
      }
    }
  }
}

TEST(Jpeg2kCodec, DamageIsCorrupt) {
  const pixels::JpegShape shape{kHigh, kWide, 3};
  auto chunk = with_checksum(encode_jpeg2000(noisy_picture(shape), {.shape = shape}));
  const auto chain = CodecChain::prepare(slide_codecs(), slide_chunk(), "test");
  std::vector<std::byte> out(3 * kHigh * kWide);
  const View to{out.data(), {kHigh * kWide, kWide, 1}};
  const Box whole{3, {}, {3, kHigh, kWide}};
  const auto said = [&] {
    return error_of(ErrorCode::corrupt, [&] { chain->decode(chunk, whole, to); });
  };
  chunk[chunk.size() / 2] ^= std::byte{1};
  EXPECT_THAT(said(), HasSubstr("crc32c"));
  chunk = with_checksum(
      encode_jpeg2000(noisy_picture({kHigh, kWide, 1}), {.shape = {kHigh, kWide, 1}}));
  EXPECT_THAT(said(), HasSubstr("codec imagecodecs_jpeg2k: the JPEG 2000 picture has"));
  chunk = with_checksum({std::byte{1}, std::byte{2}});
  EXPECT_THAT(said(), HasSubstr("codec imagecodecs_jpeg2k: not a JPEG 2000 picture"));
}

TEST(Jpeg2kCodec, IsDecodedByTheHostAndNotEncoded) {
  const auto chain = CodecChain::prepare(slide_codecs(), slide_chunk(), "test");
  EXPECT_EQ(chain->host_only(), "the array→bytes codec imagecodecs_jpeg2k of the chunk");
  EXPECT_FALSE(chain->is_jpeg());
  std::vector<std::byte> pixels(3 * kHigh * kWide), out;
  EXPECT_THAT(error_of(ErrorCode::unsupported,
                       [&] {
                         chain->encode({pixels.data(), {kHigh * kWide, kWide, 1}}, out);
                       }),
              HasSubstr("only copied"));
}

TEST(Jpeg2kCodec, TakesTheOptionsOfEncodersAndNoOthers) {
  const auto prepare = [&](const Json& configuration, std::int64_t components = 3) {
    const ChunkSpec spec{DType::uint8, 3, {16, 16, components}, {std::byte{0}}};
    CodecChain::prepare(Json::array({test::named("imagecodecs_jpeg2k", configuration)}), spec,
                        "test");
  };
  prepare(Json::object());
  prepare({{"level", 60},
           {"codecformat", "JP2"},
           {"colorspace", "SYCC"},
           {"tile", {64, 64}},
           {"bitspersample", 8},
           {"resolutions", 3},
           {"reversible", true},
           {"mct", false},
           {"verbose", 0},
           {"numthreads", 2}});
  prepare(
      {{"level", nullptr}, {"codecformat", nullptr}, {"colorspace", nullptr}, {"planar", nullptr}},
      1);
  error_of(ErrorCode::unsupported, [&] { prepare({{"planar", true}}); });
  error_of(ErrorCode::unsupported, [&] { prepare({{"quality", 9}}); });
  error_of(ErrorCode::malformed, [&] { prepare({{"bitspersample", 12}}); });
  error_of(ErrorCode::malformed, [&] { prepare({{"codecformat", "tiff"}}); });
  error_of(ErrorCode::malformed, [&] { prepare({{"mct", 1}}); });
  error_of(ErrorCode::malformed, [&] { prepare({{"colorspace", 3}}); });
  error_of(ErrorCode::unsupported, [&] { prepare(Json::object(), 2); });
}

}  // namespace
}  // namespace headrace::zarr
