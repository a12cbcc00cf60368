// Reads a file into device memory: through pinned memory, and by cuFile, from the page cache and
// from the disk. The bytes are compared first. A Markdown table on stdout.
//   direct FOLDER [MIB]    FOLDER: where the file is written; MIB: its size, 1024 if left out
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <vector>

#include "bench/device/commands.hpp"
#include "headrace/core/error.hpp"
#include "headrace/storage/device_reader.hpp"

namespace headrace::device_bench {
namespace {

using storage::DeviceReader;
using storage::GpuDirect;

constexpr std::size_t kPiece = std::size_t{1} << 20;  // a shard's neighbours, read at once
constexpr int kRounds = 5;

class DirectBench {
 public:
  DirectBench(std::string path, std::size_t pieces)
      : path_(std::move(path)), expected_(pieces * kPiece), there_(expected_.size()) {
    std::uint32_t state = 1;
    for (char& byte : expected_) {
      state = state * 1664525u + 1013904223u;
      byte = static_cast<char>(state >> 24);
    }
    std::ofstream(path_, std::ios::binary)
        .write(expected_.data(), static_cast<std::streamsize>(expected_.size()));
    for (std::size_t i = 0; i < pieces; ++i) {
      ranges_.push_back({i * kPiece, kPiece, there_.as<std::byte>() + i * kPiece});
    }
  }
  ~DirectBench() { std::filesystem::remove(path_); }
  DirectBench(const DirectBench&) = delete;
  DirectBench& operator=(const DirectBench&) = delete;

  /// Two rows; false if other bytes came.
  bool rows(const char* name, GpuDirect choice) {
    DeviceReader reader(choice);
    device::cuda::clear(there_.as<void>(), there_.size(), stream_);
    seconds(reader);
    std::vector<char> came(expected_.size());
    copy_to_host(came.data(), there_.as<void>(), came.size(), stream_);
    stream_.wait();
    if (came != expected_) {
      fmt::print("| {} | differs from the file, not timed | | |\n", name);
      return false;
    }
    for (const bool cached : {true, false}) {
      std::vector<double> times;
      for (int i = 0; i < kRounds; ++i) {
        if (!cached) evict();
        times.push_back(seconds(reader));
      }
      std::sort(times.begin(), times.end());
      fmt::print("| {} | {} | {:.2f} | {} |\n", name, cached ? "the page cache" : "the disk",
                 static_cast<double>(there_.size()) / times[times.size() / 2] * 1e-9, reader.how());
      std::fflush(stdout);
    }
    return true;
  }

 private:
  double seconds(DeviceReader& reader) {
    const auto begin = std::chrono::steady_clock::now();
    reader.read(path_, ranges_, stream_);
    stream_.wait();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  }
  void evict() const {
    const int file = open(path_.c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0) fail(ErrorCode::io, "{}: can't be opened again", path_);
    fdatasync(file);
    posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
    close(file);
  }

  std::string path_;
  std::vector<char> expected_;
  device::cuda::DeviceBuffer there_;
  device::cuda::Stream stream_;
  std::vector<storage::DeviceRange> ranges_;
};

}  // namespace

int direct_reads(int argc, char** argv) {
  if (argc < 2) fail(ErrorCode::usage, "usage: direct FOLDER [MIB]");
  const std::string folder = argv[1];
  const int mib = argc > 2 ? std::max(1, std::atoi(argv[2])) : 1024;
  std::filesystem::create_directories(folder);
  fmt::print(
      "{}; a file of {} MiB in pieces of 1 MiB, one thread, medians of {}. The disk: after the page "
      "cache was told to drop the file\n\n"
      "| into device memory | from | GB/s | read by |\n|---|---|---|---|\n",
      device::cuda::describe(), mib, kRounds);
  DirectBench bench(folder + "/direct.bin", static_cast<std::size_t>(mib));
  bool same = bench.rows("through pinned memory", GpuDirect::off);
  try {
    same = bench.rows("GPUDirect", GpuDirect::on) && same;
  } catch (const Error& error) {
    if (error.code() != ErrorCode::unsupported && error.code() != ErrorCode::device) throw;
    fmt::print("| GPUDirect | not measured: {} | | |\n", error.what());
  }
  return same ? 0 : 1;
}

}  // namespace headrace::device_bench
