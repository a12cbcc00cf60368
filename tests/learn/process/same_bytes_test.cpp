// Whatever the mode, the tile, the threads and the instruction set: the same stored objects.
#include <gtest/gtest.h>

#include "headrace/device/cpu_isa.hpp"
#include "headrace/storage/local_store.hpp"
#include "headrace/zarr/array.hpp"
#include "learn/process/process.hpp"
#include "learn/process/tilewise_plan.hpp"
#include "tests/learn/process/generated_image.hpp"

namespace headrace::process {
namespace {

ProcessOptions options_for(OperationName name, const std::string& out) {
  ProcessOptions options;
  options.operation.name = name;
  options.operation.sigma_px = 2.3;
  options.sink.path = out;
  options.sink.chunk = 256;
  return options;
}

void run(const ImageSource& image, ProcessOptions options, int threads) {
  ThreadPool pool(threads);
  process_image(image, options, pool);
}

class SameBytes : public testing::TestWithParam<OperationName> {
 protected:
  Folder folder_;
  const GeneratedImage image_{1201, 1407};
};

TEST_P(SameBytes, TileSizesAndThreads) {
  auto options = options_for(GetParam(), folder_ / "global");
  options.mode = Mode::global;
  run(image_, options, 2);
  const auto expected = objects_of(folder_ / "global");
  ASSERT_GT(expected.size(), 3u);
  int number = 0;
  for (const std::int64_t tile : {64, 77, 101, 256, 333, 512, 1000, 2048}) {
    options = options_for(GetParam(), folder_ / fmt::format("tiles-{}", tile));
    options.tile = tile;
    options.memory_bytes = std::uint64_t{512} << 20;
    run(image_, options, ++number);
    ASSERT_EQ(objects_of(options.sink.path), expected) << "tile " << tile << ", threads " << number;
  }
}

TEST_P(SameBytes, InstructionSets) {
  const auto best = device::cpu_isa();
  std::map<std::string, std::string> expected;
  for (const auto isa : device::compiled_isas()) {
    if (isa > best) break;
    device::force_cpu_isa(device::name_of(isa));
    const std::string out = folder_ / std::string(device::name_of(isa));
    run(image_, options_for(GetParam(), out), 2);
    if (expected.empty()) expected = objects_of(out);
    EXPECT_EQ(objects_of(out), expected) << device::name_of(isa);
  }
  device::force_cpu_isa(device::name_of(best));
}

TEST_P(SameBytes, TiffOfBothModes) {
  auto options = options_for(GetParam(), folder_ / "global.tif");
  options.mode = Mode::global;
  run(image_, options, 2);
  options = options_for(GetParam(), folder_ / "tiles.tif");
  options.tile = 300;
  run(image_, options, 3);
  EXPECT_EQ(objects_of(folder_ / "global.tif"), objects_of(folder_ / "tiles.tif"));
}

INSTANTIATE_TEST_SUITE_P(Process, SameBytes,
                         testing::Values(OperationName::save, OperationName::sobel,
                                         OperationName::gaussian, OperationName::stain_separate,
                                         OperationName::tissue_mask, OperationName::normalize),
                         [](const auto& info) {
                           std::string name(name_of(info.param));
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST(ProcessTilewise, NarrowStripsGiveTheSameBytes) {
  // Little memory makes several strips, whose borders lie inside of source blocks.
  const Folder folder;
  const GeneratedImage image(700, 9000, 3, 200);
  auto options = options_for(OperationName::gaussian, folder / "global");
  options.mode = Mode::global;
  run(image, options, 2);
  options = options_for(OperationName::gaussian, folder / "strips");
  options.memory_bytes = std::uint64_t{105} << 20;
  const Operation operation(options.operation, 3);
  const auto plan = plan_tilewise(image.info(), operation, 256, 0, false, options.memory_bytes, 2);
  ASSERT_LT(plan.strip_regions * plan.region, 9000 / 3) << "no strips: the test shows nothing";
  run(image, options, 2);
  EXPECT_EQ(objects_of(folder / "strips"), objects_of(folder / "global"));
}

TEST(ProcessTilewise, EveryBlockIsDecodedOnceWhereOneStripHoldsTheImage) {
  const Folder folder;
  const GeneratedImage image(1000, 1100, 3, 100);
  run(image, options_for(OperationName::sobel, folder / "out"), 2);
  EXPECT_EQ(image.reads, 10 * 11);
}

TEST(ProcessTilewise, TooLittleMemoryIsRefusedWithWhatIsNeeded) {
  const Folder folder;
  const GeneratedImage image(5000, 500, 1);
  auto options = options_for(OperationName::sobel, folder / "out");
  options.memory_bytes = std::uint64_t{32} << 20;
  try {
    run(image, options, 1);
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("at least"), std::string::npos) << error.what();
  }
  EXPECT_FALSE(std::filesystem::exists(folder / "out"));
}

TEST(ProcessTilewise, CompressedChunksHoldTheSamePixels) {
  const Folder folder;
  const GeneratedImage image(600, 700);
  std::vector<std::vector<float>> found;
  for (const SinkCodec codec : {SinkCodec::none, SinkCodec::blosc_zstd, SinkCodec::zstd}) {
    const std::string tilewise = folder / std::string(name_of(codec)), global = tilewise + "-g";
    for (const Mode mode : {Mode::tilewise, Mode::global}) {
      auto options = options_for(OperationName::sobel, mode == Mode::global ? global : tilewise);
      options.mode = mode;
      options.sink.codec = codec;
      run(image, options, 2);
    }
    EXPECT_EQ(objects_of(tilewise), objects_of(global));
    const auto array = zarr::Array::open(std::make_shared<storage::LocalStore>(tilewise), "0");
    std::vector<float> pixels(600 * 700);
    array->read(
        {{0, 0}, {600, 700}, reinterpret_cast<std::byte*>(pixels.data()), {700 * 4, 4}, {}});
    found.push_back(std::move(pixels));
  }
  EXPECT_EQ(found[0], found[1]);
  EXPECT_EQ(found[0], found[2]);
}

}  // namespace
}  // namespace headrace::process
