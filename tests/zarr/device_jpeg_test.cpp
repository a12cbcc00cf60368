// JPEGs decoded by nvJPEG against the CPU's. On a GPU the real library decodes, within a few levels
// of the CPU; with its stand-in the pixels are the CPU's, and what the stand-in is told to refuse,
// to lie about or to count shows how batches are divided.
#include <dlfcn.h>

#include <atomic>

#include "headrace/core/crc32c.hpp"
#include "headrace/device/memory_budget.hpp"
#include "headrace/zarr/nvidia/jpeg_batch.hpp"
#include "tests/core/error_of.hpp"
#include "tests/pixels/jpeg_kinds.hpp"
#include "tests/zarr/device_decoding.hpp"

namespace headrace::zarr {
namespace {

using device::cuda::DeviceBuffer;
using device::cuda::Stream;
namespace kinds = pixels::fixtures;
using kinds::Jpeg;
using test::Request;
using test::Shape;

constexpr int kEdge = 64, kColumns = 4;
constexpr std::uint64_t kTileBytes = kEdge * kEdge * 3;

class DeviceJpeg : public test::DeviceDecoding {
 protected:
  void SetUp() override {
    test::DeviceDecoding::SetUp();
    if (IsSkipped()) return;
    if (!no_jpeg().empty()) GTEST_SKIP() << "not run: " << no_jpeg();
    // The stand-in counts what it is asked for; the real library has no such names.
    const char* file = std::getenv("HEADRACE_NVJPEG");
    void* library = file == nullptr ? nullptr : dlopen(file, RTLD_NOW);
    if (library == nullptr) return;
    batches_ = static_cast<std::atomic<int>*>(dlsym(library, "fake_nvjpeg_batches"));
    jpegs_ = static_cast<std::atomic<int>*>(dlsym(library, "fake_nvjpeg_jpegs"));
  }
  void TearDown() override {
    unsetenv("HEADRACE_TEST_JPEG_ENGINES");
    unsetenv("HEADRACE_TEST_JPEG_COLOURS");
    unsetenv("HEADRACE_TEST_JPEG_ANSWERS");
    unsetenv("HEADRACE_TEST_JPEG_BLIND");
  }
  bool stands_in() const { return jpegs_ != nullptr; }

  /// An array of tiles, one under the other in columns of 4, each stored as the JPEG given.
  static std::shared_ptr<const Array> array_of(const std::vector<Jpeg>& tiles,
                                               bool checked = false) {
    const auto count = static_cast<std::int64_t>(tiles.size());
    const Shape shape{(count + kColumns - 1) / kColumns * kEdge, kColumns * kEdge, 3};
    const Json codecs = checked ? Codecs::checked(Codecs::jpeg(90)) : Codecs::jpeg(90);
    const auto metadata = test::metadata_of(shape, {kEdge, kEdge, 3}, DType::uint8, codecs);
    auto store = std::make_shared<test::MemoryStore>();
    test::write_array(store, "a", metadata,
                      std::vector<std::byte>(static_cast<std::size_t>(test::count_of(shape))));
    for (std::int64_t i = 0; i < count; ++i) {
      Jpeg bytes = tiles[static_cast<std::size_t>(i)];
      if (checked) {
        const std::uint32_t sum = crc32c(bytes);
        const auto* little_endian = reinterpret_cast<const std::byte*>(&sum);
        bytes.insert(bytes.end(), little_endian, little_endian + sizeof sum);
      }
      store->objects[fmt::format("a/c/{}/{}/0", i / kColumns, i % kColumns)] = bytes;
    }
    return Array::open(store, "a");
  }
  static std::vector<Request> whole(const Array& array) {
    const Shape& shape = array.metadata().shape;
    return {{{0, 0, 0}, shape, test::c_strides(shape, 1), 0}};
  }
  static std::uint64_t bytes_of(const Array& array) {
    return static_cast<std::uint64_t>(test::count_of(array.metadata().shape));
  }

  std::vector<std::byte> decoded_whole(DeviceDecoder& decoder,
                                       const std::shared_ptr<const Array>& array) {
    return decoded(decoder, array, whole(*array), bytes_of(*array));
  }
  static std::vector<std::byte> by_cpu(const Array& array) {
    return expected(array, whole(array), bytes_of(array));
  }

  /// The mean over all pixels: real decoders differ in rounding and in how they smooth chroma.
  static void expect_near(const std::vector<std::byte>& a, const std::vector<std::byte>& b) {
    ASSERT_EQ(a.size(), b.size());
    double sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
      sum += std::abs(std::to_integer<int>(a[i]) - std::to_integer<int>(b[i]));
    }
    EXPECT_LT(sum / static_cast<double>(a.size()), 1.0);
  }

  static Jpeg tile(J_COLOR_SPACE stored = JCS_YCbCr, bool progressive = false, int seed = 0) {
    return kinds::written_jpeg(
        kinds::colourful(kEdge, kEdge, stored == JCS_GRAYSCALE ? 1 : 3, seed), kEdge, kEdge, stored,
        progressive);
  }
  static std::vector<Jpeg> tiles(int count) {
    std::vector<Jpeg> out;
    for (int i = 0; i < count; ++i) out.push_back(tile(JCS_YCbCr, false, 7 * i));
    return out;
  }

  std::atomic<int>*batches_ = nullptr, *jpegs_ = nullptr;
};

/// RGB as Aperio's scanners write it, once a TIFF's tile has become a JPEG of its own: an Adobe
/// marker of transform 0 in front of components that are called 0, 1 and 2.
Jpeg aperio(Jpeg jpeg) {
  kinds::name_components(jpeg, {0, 1, 2});
  return jpeg;
}
/// RGB by the names of the components alone.
Jpeg lettered(Jpeg jpeg) {
  kinds::without_segment(jpeg, 0xEE);
  kinds::name_components(jpeg, {'R', 'G', 'B'});
  return jpeg;
}
/// JFIF, which means YCbCr, and then an Adobe marker that says RGB.
Jpeg contradictory(Jpeg jpeg, const Jpeg& rgb) {
  const auto [from, length] = kinds::segment_of(rgb, 0xEE);
  const auto jfif = kinds::segment_of(jpeg, 0xE0);
  jpeg.insert(jpeg.begin() + static_cast<std::ptrdiff_t>(jfif.first + jfif.second),
              rgb.begin() + static_cast<std::ptrdiff_t>(from),
              rgb.begin() + static_cast<std::ptrdiff_t>(from + length));
  return jpeg;
}

TEST_F(DeviceJpeg, OfEveryColourIsNearTheCpu) {
  const Jpeg ycbcr = tile(), rgb = tile(JCS_RGB);
  const std::vector<Jpeg> kinds{ycbcr, rgb, aperio(rgb), lettered(rgb), contradictory(ycbcr, rgb)};
  DeviceDecoder decoder(DecodeOn::gpu);
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    SCOPED_TRACE(i);
    const auto array = array_of({kinds[i], kinds[i], kinds[i], kinds[i]});
    const auto cpu = by_cpu(*array);
    // Each kind is what libjpeg takes it for: the colours that were put in.
    const auto pixels = kinds::colourful(kEdge, kEdge, 3);
    const Request first{{0, 0, 0}, {kEdge, kEdge, 3}, test::c_strides({kEdge, kEdge, 3}, 1), 0};
    const auto one = expected(*array, {first}, kTileBytes);
    double sum = 0;
    for (std::size_t p = 0; p < pixels.size(); ++p) {
      sum += std::abs(std::to_integer<int>(one[p]) - int{pixels[p]});
    }
    EXPECT_LT(sum / static_cast<double>(pixels.size()), 4.0);
    const auto gpu = decoded_whole(decoder, array);
    expect_near(gpu, cpu);
    if (!stands_in()) continue;
    EXPECT_TRUE(gpu == cpu);
    EXPECT_EQ(decoder.decoded_by(), "nvJPEG (gpu)");
  }
}

/// As a library would that knows no other colours: found out before the first such JPEG.
TEST_F(DeviceJpeg, OfRgbIsTheCpusWhereTheLibraryTakesItForYcbcr) {
  if (!stands_in()) GTEST_SKIP() << "a stand-in is told what to do";
  setenv("HEADRACE_TEST_JPEG_COLOURS", "ycbcr", 1);
  DeviceDecoder decoder(DecodeOn::gpu);
  const auto rgb = array_of({aperio(tile(JCS_RGB)), lettered(tile(JCS_RGB))});
  EXPECT_TRUE(decoded_whole(decoder, rgb) == by_cpu(*rgb));
  EXPECT_EQ(decoder.decoded_by(), "CPU");
  const auto mixed = array_of({tile(), tile(JCS_RGB), tile()});
  EXPECT_TRUE(decoded_whole(decoder, mixed) == by_cpu(*mixed));
  EXPECT_EQ(decoder.decoded_by(), "nvJPEG (gpu), CPU");
}

TEST_F(DeviceJpeg, OfBothKindsInABatchIsNearTheCpu) {
  const test::Layout grey{"", {kEdge, kEdge}, {kEdge, kEdge}, DType::uint8, Codecs::jpeg(90)};
  auto store = test::stored(grey);
  store->objects["a/c/0/0"] = tile(JCS_GRAYSCALE);
  const auto flat = Array::open(store, "a");
  const auto coloured = array_of(tiles(3));
  const std::uint64_t colour_bytes = bytes_of(*coloured), total = colour_bytes + kEdge * kEdge;
  DeviceDecoder decoder(DecodeOn::gpu);
  decoder.lend_memory(batch_);
  std::vector<std::byte> cpu(total), gpu(total);
  const Request request = whole(*coloured).front();
  coloured->read({request.origin, request.size, cpu.data(), request.strides, {}});
  flat->read({{0, 0}, {kEdge, kEdge}, cpu.data() + colour_bytes, {kEdge, 1}, {}});
  batch_.add(coloured, {request.origin, request.size, nullptr, request.strides, {}});
  batch_.add(flat, {{0, 0}, {kEdge, kEdge}, nullptr, {kEdge, 1}, {}});
  batch_.fetch(pool_);
  Stream stream;
  DeviceBuffer out(total);
  decoder.start(batch_, pool_, std::vector<std::uint64_t>{0, colour_bytes}, total,
                out.as<std::byte>(), stream);
  decoder.finish(batch_);
  copy_to_host(gpu.data(), out.as<void>(), total, stream);
  stream.wait();
  expect_near(gpu, cpu);
  EXPECT_EQ(decoder.decoded_by().rfind("nvJPEG (", 0), 0u) << decoder.decoded_by();
  EXPECT_EQ(decoder.decoded_by().find("CPU"), std::string::npos) << decoder.decoded_by();
}

TEST_F(DeviceJpeg, ThatABatchMayNotHoldIsTheCpusAndNoOther) {
  std::vector<Jpeg> all = tiles(12);
  all[5] = tile(JCS_YCbCr, true);
  const auto array = array_of(all, true);
  const auto cpu = by_cpu(*array);
  if (stands_in()) setenv("HEADRACE_TEST_JPEG_ENGINES", "1", 1);
  DeviceDecoder decoder(DecodeOn::gpu);
  const auto gpu = decoded_whole(decoder, array);
  expect_near(gpu, cpu);
  if (!stands_in()) return;
  EXPECT_TRUE(gpu == cpu);
  EXPECT_EQ(decoder.decoded_by(), "nvJPEG (hardware), CPU");
  const int batches = *batches_, jpegs = *jpegs_;
  EXPECT_TRUE(decoded_whole(decoder, array) == cpu);
  EXPECT_EQ(*batches_ - batches, 1);
  EXPECT_EQ(*jpegs_ - jpegs, 11);
}

/// Nobody names the JPEG that a batch fails by, so the CPU decodes them all.
TEST_F(DeviceJpeg, OfABatchThatFailsAfterAllIsTheCpus) {
  if (!stands_in()) GTEST_SKIP() << "a stand-in is told what to do";
  std::vector<Jpeg> all = tiles(6);
  all[2] = tile(JCS_YCbCr, true);
  const auto array = array_of(all, true), plain = array_of(tiles(6), true);
  setenv("HEADRACE_TEST_JPEG_ENGINES", "liar", 1);
  DeviceDecoder decoder(DecodeOn::gpu);
  EXPECT_TRUE(decoded_whole(decoder, array) == by_cpu(*array));
  EXPECT_EQ(decoder.decoded_by(), "CPU");
  EXPECT_TRUE(decoded_whole(decoder, plain) == by_cpu(*plain));
  EXPECT_EQ(decoder.decoded_by(), "nvJPEG (hardware)");
  setenv("HEADRACE_TEST_JPEG_ENGINES", "picky", 1);
  DeviceDecoder other(DecodeOn::gpu);
  EXPECT_TRUE(decoded_whole(other, plain) == by_cpu(*plain));
  EXPECT_EQ(other.decoded_by(), "nvJPEG (gpu)");
}

/// Of a back end that has no answer for a plain JPEG either, a no means nothing.
TEST_F(DeviceJpeg, IsDecodedWhereTheLibraryCannotSayWhatItTakes) {
  if (!stands_in()) GTEST_SKIP() << "a stand-in is told what to do";
  setenv("HEADRACE_TEST_JPEG_ANSWERS", "none", 1);
  const auto array = array_of(tiles(4));
  DeviceDecoder decoder(DecodeOn::gpu);
  EXPECT_TRUE(decoded_whole(decoder, array) == by_cpu(*array));
  EXPECT_EQ(decoder.decoded_by(), "nvJPEG (gpu)");
}

TEST_F(DeviceJpeg, EnginesThatAreNotThereOrDecodeNothingAreNotChosen) {
  if (!stands_in()) GTEST_SKIP() << "a stand-in is told what to do";
  for (const char* engines : {"none", "picky"}) {
    setenv("HEADRACE_TEST_JPEG_ENGINES", engines, 1);
    EXPECT_EQ(JpegBatch().name(), "nvJPEG (gpu)") << engines;
  }
  setenv("HEADRACE_TEST_JPEG_ENGINES", "1", 1);
  EXPECT_EQ(JpegBatch().name(), "nvJPEG (hardware)");
}

/// The CPU's own sentence, at the batch that holds it; the next batch is decoded.
TEST_F(DeviceJpeg, ThatIsDamagedIsTheErrorOfTheCpu) {
  for (const bool checked : {false, true}) {
    SCOPED_TRACE(checked ? "damaged before its checksum was made" : "without a checksum");
    if (checked && !stands_in()) continue;  // not found by a GPU's part of the work
    if (!checked) setenv("HEADRACE_TEST_JPEG_BLIND", "1", 1);
    std::vector<Jpeg> all = tiles(8);
    kinds::damage_data(all[6]);
    kinds::damage_data(all[3]);
    const auto array = array_of(all, checked), good = array_of(tiles(8), checked);
    const std::string wanted = headrace::error_of(ErrorCode::corrupt, [&] { by_cpu(*array); });
    EXPECT_EQ(wanted.rfind("chunk c/0/3/0 of memory:a (bytes 0-", 0), 0u) << wanted;
    DeviceDecoder decoder(DecodeOn::gpu);
    EXPECT_EQ(headrace::error_of(ErrorCode::corrupt, [&] { decoded_whole(decoder, array); }),
              wanted);
    EXPECT_TRUE(decoder.to_be_checked());
    expect_near(decoded_whole(decoder, good), by_cpu(*good));
    EXPECT_EQ(decoder.decoded_by().rfind("nvJPEG (", 0), 0u) << decoder.decoded_by();
    EXPECT_FALSE(decoder.to_be_checked());
    unsetenv("HEADRACE_TEST_JPEG_BLIND");
  }
}

TEST_F(DeviceJpeg, ThatWasCutOffIsTheErrorOfTheHeadersCheck) {
  std::vector<Jpeg> all = tiles(2);
  all[1].resize(all[1].size() - 40);
  const auto array = array_of(all);
  DeviceDecoder decoder(DecodeOn::gpu);
  const std::string text =
      headrace::error_of(ErrorCode::corrupt, [&] { decoded_whole(decoder, array); });
  EXPECT_EQ(text.rfind("chunk c/0/1/0 of memory:a (bytes 0-", 0), 0u) << text;
  EXPECT_NE(text.find("the JPEG has no end: it was cut off"), std::string::npos) << text;
}

/// A JpegBatch alone, over JPEGs that lie one after the other.
struct Batch {
  explicit Batch(const std::vector<Jpeg>& all) {
    for (const Jpeg& jpeg : all) {
      DecodePlan::Segment segment;
      segment.codec = StreamCodec::jpeg;
      segment.offset = encoded.size();
      segment.size = jpeg.size();
      segment.decoded_offset = segments.size() * kTileBytes;
      segment.decoded_size = kTileBytes;
      segment.height = segment.width = kEdge;
      encoded.insert(encoded.end(), jpeg.begin(), jpeg.end());
      segments.push_back(segment);
    }
    out.reserve(segments.size() * kTileBytes);
  }
  std::vector<std::byte> pixels(Stream& stream) const {
    std::vector<std::byte> host(segments.size() * kTileBytes);
    copy_to_host(host.data(), out.as<void>(), host.size(), stream);
    stream.wait();
    return host;
  }
  std::vector<DecodePlan::Segment> segments;
  std::vector<std::byte> encoded;
  DeviceBuffer out;
};

/// The state, and the copies with another marker, are in use until the stream is done; nobody but
/// the batch itself waits here.
TEST_F(DeviceJpeg, BatchesInQuickSuccessionWaitForEachOther) {
  std::vector<Jpeg> all;
  for (int i = 0; i < 5; ++i) all.push_back(lettered(tile(JCS_RGB, false, 11 * i)));
  const Batch first(all), second({lettered(tile(JCS_RGB, false, 90))});
  JpegBatch jpegs;
  Stream stream;
  EXPECT_TRUE(
      jpegs.start(first.segments, {}, first.encoded.data(), first.out.as<std::byte>(), stream)
          .empty())
      << jpegs.why_left();
  EXPECT_TRUE(
      jpegs.start(second.segments, {}, second.encoded.data(), second.out.as<std::byte>(), stream)
          .empty())
      << jpegs.why_left();
  const auto pixels = first.pixels(stream), others = second.pixels(stream);
  for (int i = 0; i < 5; ++i) {
    const auto wanted = kinds::colourful(kEdge, kEdge, 3, 11 * i);
    double sum = 0;
    for (std::size_t p = 0; p < kTileBytes; ++p) {
      sum += std::abs(std::to_integer<int>(pixels[static_cast<std::size_t>(i) * kTileBytes + p]) -
                      int{wanted[p]});
    }
    EXPECT_LT(sum / static_cast<double>(kTileBytes), 4.0) << i;
  }
  EXPECT_EQ(others.size(), kTileBytes);
}

TEST_F(DeviceJpeg, MemoryOfTheLibraryIsCountedAndComesBack) {
  const device::cuda::MemoryBudget budget(std::size_t{256} << 20, "the test", "Raise it");
  {
    JpegBatch jpegs(budget);
    const Batch batch(tiles(60));
    Stream stream;
    EXPECT_TRUE(
        jpegs.start(batch.segments, {}, batch.encoded.data(), batch.out.as<std::byte>(), stream)
            .empty())
        << jpegs.why_left();
    if (stands_in()) {
      EXPECT_GT(budget.used(), 0u);  // engines may work in the driver's memory
    }
    stream.wait();
  }
  EXPECT_EQ(budget.used(), 0u);
  if (!stands_in()) return;
  // 64 KiB for each JPEG of a batch.
  const device::cuda::MemoryBudget small(std::size_t{1} << 20, "the test", "Raise it");
  JpegBatch jpegs(small.named("what decodes"));
  const Batch few(tiles(8)), many(tiles(40));
  Stream stream;
  EXPECT_TRUE(
      jpegs.start(few.segments, {}, few.encoded.data(), few.out.as<std::byte>(), stream).empty());
  const std::string text = headrace::error_of(ErrorCode::memory, [&] {
    jpegs.start(many.segments, {}, many.encoded.data(), many.out.as<std::byte>(), stream);
  });
  EXPECT_NE(text.find("what decodes"), std::string::npos) << text;
  EXPECT_NE(text.find("the test may take 1 MiB"), std::string::npos) << text;
  EXPECT_TRUE(
      jpegs.start(few.segments, {}, few.encoded.data(), few.out.as<std::byte>(), stream).empty());
  stream.wait();
}

}  // namespace
}  // namespace headrace::zarr
