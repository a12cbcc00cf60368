// DeviceDecoder against Array::read, for all but JPEG (device_jpeg_test.cpp).
#include "headrace/zarr/device_decoder.hpp"

#include "headrace/zarr/nvidia/stream_batch.hpp"
#include "tests/zarr/device_decoding.hpp"

namespace headrace::zarr {
namespace {

using device::cuda::DeviceBuffer;
using device::cuda::Stream;
using test::DeviceDecoding;
using test::Layout;
using test::Request;

const Layout& layout_named(const std::string& name) {
  static const std::vector<Layout> all = test::layouts();
  for (const Layout& layout : all) {
    if (layout.name == name) return layout;
  }
  throw std::out_of_range(name);
}

TEST_F(DeviceDecoding, GivesWhatArrayReadGives) {
  if (!no_streams().empty()) GTEST_SKIP() << "not run: " << no_streams();
  DeviceDecoder decoder(DecodeOn::automatic);
  for (const Layout& layout : test::layouts()) {
    SCOPED_TRACE(layout.name);
    const auto array = Array::open(test::stored(layout), "a");
    for (unsigned seed = 1; seed <= 2; ++seed) {
      std::uint64_t total = 0;
      const auto requests = test::requests_of(layout, seed, total);
      const auto windows = decoded(decoder, array, requests, total);
      expect_same(windows, expected(*array, requests, total), requests, size_of(layout.dtype));
    }
    const bool jpeg = std::string(layout.name) == "slide as JPEG";
    EXPECT_EQ(decoder.left_to_cpu().empty(), !jpeg) << decoder.left_to_cpu();
    EXPECT_EQ(decoder.decoded_by() == "CPU", jpeg) << decoder.decoded_by();
  }
}

TEST_F(DeviceDecoding, ByTheCpuGivesTheSame) {
  DeviceDecoder decoder(DecodeOn::cpu);
  for (const char* name : {"slides' default", "slide as JPEG", "volumes' default"}) {
    const Layout& layout = layout_named(name);
    const auto array = Array::open(test::stored(layout), "a");
    std::uint64_t total = 0;
    const auto requests = test::requests_of(layout, 4, total);
    const auto windows = decoded(decoder, array, requests, total);
    expect_same(windows, expected(*array, requests, total), requests, size_of(layout.dtype));
    EXPECT_EQ(decoder.decoded_by(), "CPU");
    EXPECT_EQ(decoder.left_to_cpu(), "");
  }
}

// The text of decoding a whole array whose only object was changed.
class Damaged : public DeviceDecoding {
 protected:
  std::string error_of(const Json& codecs,
                       const std::function<void(std::vector<std::byte>&)>& damage) {
    const Layout layout{"", {100, 100}, {100, 100}, DType::uint8, codecs};
    const auto store = test::stored(layout);
    damage(store->objects.at("a/c/0/0"));
    const auto array = Array::open(store, "a");
    const std::vector<Request> requests{{{0, 0}, {100, 100}, {100, 1}, 0}};
    DeviceDecoder decoder(DecodeOn::gpu);
    return headrace::error_of(ErrorCode::corrupt,
                              [&] { decoded(decoder, array, requests, 10000); });
  }
};

TEST_F(Damaged, StreamsAreNamed) {
  if (!no_streams().empty()) GTEST_SKIP() << "not run: " << no_streams();
  const auto expect = [](const std::string& text, const char* part) {
    EXPECT_EQ(text.rfind("chunk c/0/0 of memory:a (bytes 0-", 0), 0u) << text;
    EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  // Literals by a table of an earlier block, in the first (RFC 8878, 3.1.1.3.1.1).
  expect(error_of(Codecs::zstd(DType::uint8, 3), [](auto& b) { b[10] |= std::byte{3}; }),
         "nvCOMP ");
  // A match at distance 0.
  const auto break_lz4 = [](std::vector<std::byte>& b) {
    std::int32_t start, size;
    std::memcpy(&start, b.data() + 16, 4);
    std::memcpy(&size, b.data() + start, 4);
    std::fill_n(b.begin() + start + 4, size, std::byte{0});
  };
  expect(error_of(Codecs::blosc("lz4", DType::uint8, 5, "noshuffle", 10000), break_lz4), "nvCOMP ");
  expect(error_of(Codecs::checked(Codecs::zstd(DType::uint8, 3)),
                  [](auto& b) { b[60] ^= std::byte{4}; }),
         "stored crc32c");
}

TEST_F(DeviceDecoding, OfWhatOnlyTheHostDecodesIsRefusedOrLeftToTheCpu) {
  if (!no_streams().empty()) GTEST_SKIP() << "not run: " << no_streams();
  const Layout layout{"",
                      {64, 64},
                      {64, 64},
                      DType::uint8,
                      Json::array({test::named("bytes"), test::named("gzip", {{"level", 1}})})};
  const auto array = Array::open(test::stored(layout), "a");
  const std::vector<Request> requests{{{0, 0}, {64, 64}, {64, 1}, 0}};
  DeviceDecoder automatic(DecodeOn::automatic), gpu(DecodeOn::gpu);
  EXPECT_EQ(decoded(automatic, array, requests, 4096), expected(*array, requests, 4096));
  EXPECT_NE(
      automatic.left_to_cpu().find("bytes→bytes codec 1 of the chunk is decoded by the host alone"),
      std::string::npos)
      << automatic.left_to_cpu();
  const std::string text =
      headrace::error_of(ErrorCode::unsupported, [&] { decoded(gpu, array, requests, 4096); });
  EXPECT_EQ(text.rfind("decode is gpu: ", 0), 0u) << text;
}

TEST_F(DeviceDecoding, OfManyStreamsGoesInSeveralCalls) {
  if (!no_streams().empty()) GTEST_SKIP() << "not run: " << no_streams();
  const Layout& layout = layout_named("volumes' blosc-zstd");
  const auto array = Array::open(test::stored(layout), "a");
  batch_.add(array, {{0, 0, 0}, layout.shape, nullptr, test::c_strides(layout.shape, 2), {}});
  batch_.fetch(pool_);
  DecodePlan plan;
  batch_.plan_decode(pool_, std::vector<std::uint64_t>{0}, plan);
  Stream stream;
  DeviceBuffer encoded(plan.encoded_bytes);
  copy_to_device(encoded.as<void>(), batch_.encoded(), plan.encoded_bytes, stream);
  std::vector<std::byte> results[2];
  for (const std::uint64_t most : {std::uint64_t{100000}, StreamBatch::kMostDecodedBytes}) {
    std::vector<std::byte>& result = results[most == 100000];
    result.assign(plan.decoded_bytes, std::byte{});
    StreamBatch streams(most);
    DeviceBuffer out(plan.decoded_bytes);
    copy_to_device(out.as<void>(), result.data(), result.size(), stream);
    streams.start(plan.segments, encoded.as<std::byte>(), out.as<std::byte>(), stream);
    copy_to_host(result.data(), out.as<void>(), result.size(), stream);
    stream.wait();
    std::string problem;
    EXPECT_EQ(streams.failed(plan.segments, problem), nullptr) << problem;
  }
  EXPECT_GT(plan.decoded_bytes, 400000u);
  EXPECT_EQ(results[0], results[1]);
}

TEST(DecodeChoice, SaysWhyThereIsNoGpuDecoder) {
  if (device::cuda::cuda_available()) GTEST_SKIP() << "not run: there is a GPU, or a stand-in";
  const GpuDecoders& here = GpuDecoders::here();
  EXPECT_EQ(here.no_streams, device::cuda::describe());
  EXPECT_EQ(here.no_jpeg, device::cuda::describe());
  EXPECT_EQ(here.names, "");
  EXPECT_THROW(DeviceDecoder(DecodeOn::gpu), Error);
  EXPECT_THROW(DeviceDecoder(DecodeOn::cpu), Error);
}

}  // namespace
}  // namespace headrace::zarr
