// An image larger than the memory it is given: measured, and under a limit of the system.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

#include "learn/process/process.hpp"
#include "tests/learn/process/generated_image.hpp"
#include "tests/learn/process/large_tiff.hpp"

namespace headrace::process {
namespace {

constexpr std::int64_t kEdge = 12288;  // 453 MB of pixels
constexpr std::uint64_t kMemory = std::uint64_t{256} << 20;

std::uint64_t address_space_bytes() {
  std::ifstream file("/proc/self/statm");
  std::uint64_t pages = 0;
  file >> pages;
  return pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

/// Runs in a process of its own, which the test below starts.
TEST(ProcessMemory, DISABLED_Child) {
  const char* in = std::getenv("HR_PROCESS_IN");
  const char* out = std::getenv("HR_PROCESS_OUT");
  ASSERT_TRUE(in != nullptr && out != nullptr);
  ThreadPool pool(2);
  const auto source = ImageSource::open(in, "", 0);
  // Address space that is reserved and never touched (stacks, arenas) does not count as memory: 384
  // MiB more.
  const rlim_t limit = address_space_bytes() + kMemory + (std::uint64_t{384} << 20);
  const rlimit bound{limit, limit};
  ASSERT_EQ(::setrlimit(RLIMIT_AS, &bound), 0);
  ProcessOptions options;
  options.operation.name = OperationName::sobel;
  options.operation.output = OutputType::uint8;
  options.memory_bytes = kMemory;
  options.sink.path = out;
  process_image(*source, options, pool);
}

TEST(ProcessMemory, AnImageLargerThanItsMemoryStaysUnderTheBound) {
#if defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "not run: the sanitizer's own memory is many times the bound";
#endif
  const Folder folder;
  write_large_tiff(folder / "large.tif", kEdge);
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    ::setenv("HR_PROCESS_IN", (folder / "large.tif").c_str(), 1);
    ::setenv("HR_PROCESS_OUT", (folder / "out").c_str(), 1);
    ::execl("/proc/self/exe", "test_process", "--gtest_filter=ProcessMemory.DISABLED_Child",
            "--gtest_also_run_disabled_tests", nullptr);
    ::_exit(127);
  }
  int status = 0;
  rusage usage{};
  ASSERT_EQ(::wait4(child, &status, 0, &usage), child);
  ASSERT_TRUE(WIFEXITED(status));
  ASSERT_EQ(WEXITSTATUS(status), 0);
  const auto peak = static_cast<std::uint64_t>(usage.ru_maxrss) << 10;
  RecordProperty("peak_mib", std::to_string(peak >> 20));
  EXPECT_LT(peak, kMemory) << (peak >> 20) << " MiB";
  const auto result = ImageSource::open(folder / "out", "", 0);
  EXPECT_EQ(result->info().height, kEdge);
}

}  // namespace
}  // namespace headrace::process
