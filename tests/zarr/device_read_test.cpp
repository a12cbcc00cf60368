// DeviceDecoder over chunks that are read straight from files into device memory, so that the host
// has not seen them. Compiled twice: with the host in a GPU's place and replacements of nvCOMP and
// cuFile, and for a GPU, where there is one; without cuFile they get there by pinned memory.
#include <filesystem>
#include <fstream>

#include "headrace/storage/cufile.hpp"
#include "headrace/storage/local_store.hpp"
#include "headrace/zarr/device_decoder.hpp"
#include "tests/zarr/layouts.hpp"

namespace headrace::zarr {
namespace {

using device::cuda::DeviceBuffer;
using device::cuda::Stream;
using storage::GpuDirect;
using test::Layout;
using test::Request;

class DeviceReads : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const std::string& why = GpuDecoders::here().no_streams; !why.empty()) {
      GTEST_SKIP() << "not run: " << why;
    }
    const auto* name = ::testing::UnitTest::GetInstance()->current_test_info()->name();
    root_ = std::filesystem::path(::testing::TempDir()) / (std::string("headrace-") + name);
    std::filesystem::remove_all(root_);
    store_ = std::make_shared<storage::LocalStore>(root_);
  }
  void TearDown() override {
    if (!root_.empty()) std::filesystem::remove_all(root_);
  }
  static GpuDirect straight() {
    return storage::Cufile::shared().missing().empty() ? GpuDirect::on : GpuDirect::automatic;
  }

  std::shared_ptr<const Array> written(const std::string& path, const Layout& layout) {
    test::write_array(store_, path,
                      test::metadata_of(layout.shape, layout.chunk, layout.dtype, layout.codecs),
                      test::elements_of(layout));
    return Array::open(store_, path);
  }

  std::vector<std::byte> decoded(const std::shared_ptr<const Array>& array,
                                 const std::vector<Request>& requests, std::uint64_t total,
                                 GpuDirect direct) {
    DeviceDecoder decoder(DecodeOn::gpu, direct);
    BatchRead batch;
    decoder.lend_memory(batch);
    std::vector<std::uint64_t> at;
    for (const Request& request : requests) {
      batch.add(array, {request.origin, request.size, nullptr, request.strides, {}});
      at.push_back(request.at);
    }
    Stream stream;
    DeviceBuffer windows(total);
    decoder.fetch(batch, pool_, stream);
    EXPECT_EQ(decoder.read_directly(), direct != GpuDirect::off);
    EXPECT_TRUE(decoder.plan(batch, pool_, at));
    EXPECT_FALSE(decoder.to_be_checked());
    decoder.run(batch, windows.as<std::byte>(), stream);
    decoder.finish(batch);
    std::vector<std::byte> out(total);
    copy_to_host(out.data(), windows.as<void>(), total, stream);
    stream.wait();
    return out;
  }

  std::filesystem::path root_;
  std::shared_ptr<storage::LocalStore> store_;
  ThreadPool pool_{2};
};

const Json kRaw = Codecs::checked(Json::array({test::named("bytes")}));
const Json kZstd = Codecs::checked(Codecs::zstd(DType::int16, 3));
const Json kRawWords = Codecs::checked(Json::array({test::named("bytes", {{"endian", "little"}})}));

std::vector<Layout> unseen_layouts() {
  return {
      {"slide",
       {3, 300, 260},
       {3, 256, 256},
       DType::uint8,
       test::in_shards({3, 64, 64},
                       test::interleaved(Codecs::checked(Codecs::zstd(DType::uint8, 3))))},
      {"slide as it is",
       {3, 150, 160},
       {3, 128, 128},
       DType::uint8,
       test::in_shards({3, 64, 64}, test::interleaved(kRaw))},
      {"volume", {70, 90, 75}, {64, 64, 64}, DType::int16, test::in_shards({32, 32, 32}, kZstd)},
      {"volume as it is",
       {40, 50, 45},
       {32, 32, 32},
       DType::int16,
       test::in_shards({16, 16, 16}, kRawWords)},
      {"objects", {50, 60}, {17, 20}, DType::int16, kZstd}};
}

TEST_F(DeviceReads, GiveWhatArrayReadGives) {
  int number = 0;
  for (const Layout& layout : unseen_layouts()) {
    SCOPED_TRACE(layout.name);
    const auto array = written(std::to_string(number++), layout);
    ASSERT_TRUE(array->is_read_unseen());
    std::uint64_t total = 0;
    const auto requests = test::requests_of(layout, 5, total);
    for (const GpuDirect direct : {straight(), GpuDirect::off}) {
      const auto windows = decoded(array, requests, total, direct);
      for (const Request& request : requests) {
        const auto size =
            static_cast<std::size_t>(test::count_of(request.size)) * size_of(layout.dtype);
        std::vector<std::byte> wanted(total);
        array->read(
            {request.origin, request.size, wanted.data() + request.at, request.strides, {}});
        ASSERT_EQ(std::memcmp(windows.data() + request.at, wanted.data() + request.at, size), 0);
      }
    }
  }
}

/// Whole blocks, but for the end of a file, each to a block of its own.
TEST_F(DeviceReads, AskForBlocks) {
  const Layout layout = unseen_layouts()[2];
  const auto array = written("a", layout);
  BatchRead batch;
  std::vector<std::byte> memory;
  batch.read_into([&](std::size_t size) {
    memory.resize(size);
    return memory.data();
  });
  batch.add(array, {{3, 40, 5}, {50, 40, 60}, nullptr, test::c_strides({50, 40, 60}, 2), {}});
  batch.add(array, {{0, 0, 0}, {5, 5, 5}, nullptr, test::c_strides({5, 5, 5}, 2), {}});
  const auto ranges = batch.locate(pool_);
  ASSERT_GE(ranges.size(), 2u);
  std::uint64_t end = 0;
  for (const auto& range : ranges) {
    EXPECT_EQ(range.offset % 4096, 0u);
    EXPECT_EQ(range.at % 4096, 0u);
    EXPECT_GE(range.at, end);
    end = range.at + range.size;
    const std::uint64_t file = std::filesystem::file_size(range.path);
    EXPECT_TRUE(range.size % 4096 == 0 || range.offset + range.size == file) << range.path;
  }
  EXPECT_LE(end, memory.size());
}

/// Also where what comes out has the right size, and decompresses.
TEST_F(DeviceReads, FindAChangedBit) {
  int number = 0;
  for (const Layout& layout : unseen_layouts()) {
    SCOPED_TRACE(layout.name);
    const std::string path = std::to_string(number++);
    const auto array = written(path, layout);
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root_ / path / "c")) {
      if (entry.is_regular_file()) files.push_back(entry.path());
    }
    std::sort(files.begin(), files.end());
    // In the last chunk, the byte before its checksum; a shard's index follows its chunks.
    for (const auto& file : files) {
      const bool sharded = array->inner_chunk_shape() != array->metadata().chunk_shape;
      std::fstream stream(file, std::ios::in | std::ios::out | std::ios::binary);
      std::int64_t at = static_cast<std::int64_t>(std::filesystem::file_size(file)) - 6;
      if (sharded) {
        std::int64_t chunks = 1;
        for (std::size_t axis = 0; axis < layout.chunk.size(); ++axis) {
          chunks *= layout.chunk[axis] / array->inner_chunk_shape()[axis];
        }
        at -= 16 * chunks + 4;
      }
      stream.seekg(at);
      const char byte = static_cast<char>(stream.get() ^ 4);
      stream.seekp(at);
      stream.put(byte);
    }
    const Request whole{
        test::Shape(layout.shape.size(), 0), layout.shape,
        test::c_strides(layout.shape, static_cast<std::int64_t>(size_of(layout.dtype))), 0};
    const auto total =
        static_cast<std::uint64_t>(test::count_of(layout.shape)) * size_of(layout.dtype);
    std::vector<std::byte> out(total);
    const std::string wanted = headrace::error_of(ErrorCode::corrupt, [&] {
      array->read({whole.origin, whole.size, out.data(), whole.strides, {}});
    });
    const std::string found =
        headrace::error_of(ErrorCode::corrupt, [&] { decoded(array, {whole}, total, straight()); });
    EXPECT_NE(wanted.find(": stored crc32c "), std::string::npos) << wanted;
    EXPECT_EQ(found.rfind(wanted, 0), 0u) << found << "\n" << wanted;
  }
}

TEST_F(DeviceReads, OfOtherChunksAreRefusedOrLeftToTheHost) {
  if (const auto& why = storage::Cufile::shared().missing(); !why.empty()) {
    GTEST_SKIP() << "not run: " << why;
  }
  const Layout layout{"", {64, 64}, {64, 64}, DType::uint8, Codecs::zstd(DType::uint8, 3)};
  const auto array = written("a", layout);
  EXPECT_FALSE(array->is_read_unseen());
  EXPECT_FALSE(written("b", {"",
                             {64, 64},
                             {64, 64},
                             DType::uint8,
                             Codecs::checked(Codecs::blosc_zstd(DType::uint8, 1, "noshuffle"))})
                   ->is_read_unseen());
  BatchRead batch;
  batch.add(array, {{0, 0}, {64, 64}, nullptr, {64, 1}, {}});
  Stream stream;
  DeviceDecoder on(DecodeOn::automatic, GpuDirect::on);
  on.lend_memory(batch);
  const std::string text =
      headrace::error_of(ErrorCode::unsupported, [&] { on.fetch(batch, pool_, stream); });
  EXPECT_EQ(text.rfind("GPUDirect is on: " + (root_ / "a").string() + ": where its streams", 0), 0u)
      << text;
  DeviceDecoder automatic(DecodeOn::automatic, GpuDirect::automatic);
  automatic.lend_memory(batch);
  automatic.fetch(batch, pool_, stream);
  EXPECT_FALSE(automatic.read_directly());
  EXPECT_EQ(automatic.read_by().rfind("the host: ", 0), 0u) << automatic.read_by();
  std::vector<std::byte> out(4096);
  batch.decode(0, out.data());
  EXPECT_EQ(out, test::elements_of(layout));

  BatchRead memory;
  const auto elsewhere = Array::open(
      test::stored(
          {"", {64, 64}, {64, 64}, DType::uint8, Codecs::checked(Codecs::zstd(DType::uint8, 3))}),
      "a");
  memory.add(elsewhere, {{0, 0}, {64, 64}, nullptr, {64, 1}, {}});
  EXPECT_EQ(headrace::error_of(ErrorCode::unsupported, [&] { memory.locate(pool_); }),
            "memory:a/c/0/0 is not a file of this machine");
}

}  // namespace
}  // namespace headrace::zarr
