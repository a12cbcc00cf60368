// DeviceDecoder against Array::read. Compiled twice: with the host in a GPU's place and libraries
// that stand in for NVIDIA's (everything but the GPU is then shown), and for a GPU, where there is
// one.
#include "headrace/zarr/device_decoder.hpp"

#include <cmath>

#include "headrace/zarr/nvidia/stream_batch.hpp"
#include "tests/zarr/layouts.hpp"

namespace headrace::zarr {
namespace {

using device::cuda::DeviceBuffer;
using device::cuda::Stream;
using test::Layout;
using test::Request;
using test::Shape;

const Layout& layout_named(const std::string& name) {
  static const std::vector<Layout> all = test::layouts();
  for (const Layout& layout : all) {
    if (layout.name == name) return layout;
  }
  throw std::out_of_range(name);
}

class DeviceDecoding : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!device::cuda::cuda_available()) GTEST_SKIP() << "not run: " << device::cuda::describe();
  }
  // Why a decoder is not there, empty when it is. The tests skip themselves: a skip in a function
  // that they call would only leave that function.
  static const std::string& no_streams() { return GpuDecoders::here().no_streams; }
  static const std::string& no_jpeg() { return GpuDecoders::here().no_jpeg; }

  // A batch of all requests, decoded into poisoned windows that come back.
  std::vector<std::byte> decoded(DeviceDecoder& decoder, const std::shared_ptr<const Array>& array,
                                 const std::vector<Request>& requests, std::uint64_t total) {
    std::vector<std::byte> windows(total, std::byte{0xcd});
    std::vector<std::uint64_t> at;
    batch_.clear();
    decoder.lend_memory(batch_);
    for (const Request& request : requests) {
      batch_.add(array, {request.origin, request.size, nullptr, request.strides, {}});
      at.push_back(request.at);
    }
    batch_.fetch(pool_);
    Stream stream;
    DeviceBuffer out(total);
    copy_to_device(out.as<void>(), windows.data(), total, stream);
    decoder.start(batch_, pool_, at, total, out.as<std::byte>(), stream);
    decoder.finish(batch_);
    copy_to_host(windows.data(), out.as<void>(), total, stream);
    stream.wait();
    return windows;
  }

  static std::vector<std::byte> expected(const Array& array, const std::vector<Request>& requests,
                                         std::uint64_t total) {
    std::vector<std::byte> windows(total, std::byte{0xcd});
    for (const Request& request : requests) {
      array.read({request.origin, request.size, windows.data() + request.at, request.strides, {}});
    }
    return windows;
  }

  // The bytes of the regions alone: the CPU's way also copies what lies between them.
  static void expect_same(const std::vector<std::byte>& a, const std::vector<std::byte>& b,
                          const std::vector<Request>& requests, std::size_t item) {
    for (const Request& request : requests) {
      const auto size = static_cast<std::size_t>(test::count_of(request.size)) * item;
      ASSERT_EQ(std::memcmp(a.data() + request.at, b.data() + request.at, size), 0)
          << "region at " << request.at;
    }
  }

  ThreadPool pool_{3};
  BatchRead batch_;
};

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

TEST_F(DeviceDecoding, OfJpegIsNearTheCpu) {
  if (!no_jpeg().empty()) GTEST_SKIP() << "not run: " << no_jpeg();
  const Shape shape{256, 200, 3}, chunk{128, 100, 3};
  std::vector<std::byte> pixels(static_cast<std::size_t>(test::count_of(shape)));
  for (std::size_t i = 0; i < pixels.size(); ++i) {
    const double y = static_cast<double>(i / 600), x = static_cast<double>(i / 3 % 200);
    const double value =
        128 + 60 * std::sin(y / 19 + static_cast<double>(i % 3)) + 40 * std::cos(x / 23);
    pixels[i] = static_cast<std::byte>(value);
  }
  auto store = std::make_shared<test::MemoryStore>();
  test::write_array(store, "a", test::metadata_of(shape, chunk, DType::uint8, Codecs::jpeg(90)),
                    pixels);
  const auto array = Array::open(store, "a");
  const std::vector<Request> requests{{{10, 20, 0}, {200, 170, 3}, {510, 3, 1}, 0}};
  DeviceDecoder decoder(DecodeOn::gpu);
  const auto windows = decoded(decoder, array, requests, 102000);
  const auto cpu = expected(*array, requests, 102000);
  EXPECT_EQ(decoder.decoded_by().rfind("nvJPEG (", 0), 0u) << decoder.decoded_by();
  double sum = 0;
  for (std::size_t i = 0; i < cpu.size(); ++i) {
    sum += std::abs(std::to_integer<int>(cpu[i]) - std::to_integer<int>(windows[i]));
  }
  EXPECT_LT(sum / static_cast<double>(cpu.size()), 1.0);
}

// What the engines do not take the kernels decode, unless the engines alone were asked for. On a
// real GPU these are JPEGs that its engines do take.
TEST_F(DeviceDecoding, OfJpegThatTheEnginesRefuseIsDoneByTheKernels) {
  if (!no_jpeg().empty()) GTEST_SKIP() << "not run: " << no_jpeg();
  const Layout& layout = layout_named("slide as JPEG");
  const auto array = Array::open(test::stored(layout), "a");
  std::uint64_t total = 0;
  const auto requests = test::requests_of(layout, 4, total);
  setenv("HEADRACE_TEST_JPEG_ENGINES", "picky", 1);
  DeviceDecoder decoder(DecodeOn::gpu);
  const auto refused = decoded(decoder, array, requests, total);
  setenv("HEADRACE_TEST_JPEG_ENGINES", "1", 1);
  DeviceDecoder other(DecodeOn::gpu);
  const auto taken = decoded(other, array, requests, total);
  unsetenv("HEADRACE_TEST_JPEG_ENGINES");
  expect_same(refused, taken, requests, size_of(layout.dtype));
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

TEST_F(Damaged, JpegIsNamed) {
  if (!no_jpeg().empty()) GTEST_SKIP() << "not run: " << no_jpeg();
  const auto named = [](const std::string& text) {
    EXPECT_EQ(text.rfind("chunk c/0/0 of memory:a (bytes 0-", 0), 0u) << text;
  };
  const std::string cut = error_of(Codecs::jpeg(90), [](auto& b) { b.resize(b.size() / 3); });
  named(cut);
  EXPECT_NE(cut.find("the JPEG has no end: it was cut off"), std::string::npos) << cut;
  // Its middle is missing.
  const std::string holed = error_of(Codecs::jpeg(90), [](auto& b) {
    b.erase(b.begin() + static_cast<std::ptrdiff_t>(b.size() / 3), b.end() - 2);
  });
  named(holed);
  EXPECT_NE(holed.find("nvJPEG: "), std::string::npos) << holed;
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
