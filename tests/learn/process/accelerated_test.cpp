// The way over an accelerator, with one on the host that does nothing before it is waited for.
#include "learn/process/device_image.hpp"
#include "tests/core/error_of.hpp"
#include "tests/learn/process/accelerated_cases.hpp"
#include "tests/learn/process/host_accelerator.hpp"

namespace headrace::process {
namespace {

class Accelerated : public testing::TestWithParam<OperationName> {};

TEST_P(Accelerated, StoresTheBytesOfTheCpu) {
  HostAccelerator accelerator;
  expect_stored_bytes_of_the_cpu(GetParam(), accelerator);
  EXPECT_EQ(accelerator.held_device_bytes(), 0u);
}

TEST_P(Accelerated, MakesTheTilesOfTheCpu) {
  HostAccelerator accelerator;
  expect_tiles_of_the_cpu(GetParam(), accelerator);
}

INSTANTIATE_TEST_SUITE_P(Process, Accelerated, testing::ValuesIn(all_operations()), test_name);

TEST(AcceleratedStatistics, AreThoseOfTheCpu) {
  HostAccelerator accelerator;
  expect_statistics_of_the_cpu(accelerator);
  EXPECT_EQ(accelerator.passes(), 8);
  EXPECT_EQ(accelerator.held_device_bytes(), 0u);
}

TEST(AcceleratedStatistics, ComeFromTheImageInItsMemory) {
  const GeneratedImage image(500, 600, 3, 100);
  for (const OperationName name : {OperationName::tissue_mask, OperationName::normalize}) {
    const Folder folder;
    HostAccelerator accelerator;
    ThreadPool pool(2);
    auto options = accelerated_options(name, folder / "out");
    options.mode = Mode::global;
    image.reads = 0;
    process_image(image, options, pool, &accelerator);
    EXPECT_EQ(accelerator.passes(), 1);
    EXPECT_EQ(image.reads, 30) << "every block once, to load it";
  }
}

std::string refusal(const ImageSource& image, const ProcessOptions& options, ErrorCode code,
                    Accelerator& accelerator) {
  ThreadPool pool(3);
  return error_of(code, [&] { process_image(image, options, pool, &accelerator); });
}

TEST(AcceleratedMemory, IsBounded) {
  const Folder folder;
  const GeneratedImage image(1500, 1300);
  auto options = accelerated_options(OperationName::gaussian, folder / "out");
  options.device_bytes = std::uint64_t{3} << 20;
  HostAccelerator accelerator;
  ThreadPool pool(4);
  process_image(image, options, pool, &accelerator);
  EXPECT_LE(accelerator.peak_device_bytes(), options.device_bytes);
  EXPECT_GT(accelerator.peak_device_bytes(), options.device_bytes / 3);
}

TEST(AcceleratedMemory, TooLittleOfItIsRefusedWithWhatIsNeeded) {
  const Folder folder;
  const GeneratedImage image(1500, 1300);
  auto options = accelerated_options(OperationName::gaussian, folder / "out");
  options.device_bytes = std::uint64_t{1} << 20;
  HostAccelerator accelerator;
  const std::string text = refusal(image, options, ErrorCode::memory, accelerator);
  EXPECT_NE(text.find("device_memory 2 or smaller tiles"), text.npos) << text;
  HostAccelerator small(std::size_t{4} << 20);
  options.mode = Mode::global;
  const std::string whole = refusal(image, options, ErrorCode::memory, small);
  EXPECT_NE(whole.find("use mode tilewise"), whole.npos) << whole;
  EXPECT_FALSE(std::filesystem::exists(folder / "out"));
}

TEST(AcceleratedFailures, LeaveNoImageAndNobodyWaiting) {
  const GeneratedImage image(1500, 1300, 3, 100);
  for (const Mode mode : {Mode::tilewise, Mode::global}) {
    const Folder folder;
    auto options = accelerated_options(OperationName::sobel, folder / "out");
    options.mode = mode;
    options.device_bytes = std::uint64_t{2} << 20;  // fewer lanes than threads
    HostAccelerator accelerator;
    accelerator.fail_after_waits(mode == Mode::tilewise ? 3 : 215);
    const std::string text = refusal(image, options, ErrorCode::device, accelerator);
    EXPECT_EQ(text, "CUDA: a kernel failed");
    EXPECT_THROW(ImageSource::open(folder / "out", "", 0), Error);
    EXPECT_EQ(accelerator.held_device_bytes(), 0u);
  }
}

TEST(AcceleratedFailures, ABrokenTileIsNamed) {
  const Folder folder;
  GeneratedImage image(700, 800);
  image.broken_y = 400;
  image.broken_x = 500;
  for (const Mode mode : {Mode::tilewise, Mode::global}) {
    auto options = accelerated_options(OperationName::sobel, folder / "out");
    options.mode = mode;
    HostAccelerator accelerator;
    const std::string text = refusal(image, options, ErrorCode::corrupt, accelerator);
    EXPECT_NE(text.find("tile at 384,480"), text.npos) << text;
  }
}

TEST(AcceleratedLoad, ReadsTheWholeImageIntoOneArray) {
  const GeneratedImage image(701, 803);
  HostAccelerator accelerator;
  ThreadPool pool(3);
  const DeviceImage loaded(image, pool, accelerator);
  EXPECT_EQ(accelerator.held_device_bytes(), 701u * 803u * 3u);
  std::vector<std::uint8_t> host(200 * 300 * 3);
  loaded.read({450, 500, 200, 300}, host.data(), 300 * 3);
  for (std::int64_t y = 0; y < 200; ++y) {
    ASSERT_EQ(std::memcmp(host.data() + y * 900, image.at(450 + y, 500), 900), 0) << y;
  }
}

}  // namespace
}  // namespace headrace::process
