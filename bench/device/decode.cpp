// Times decoding for a GPU: zstd and LZ4 by nvCOMP, JPEG by nvJPEG, against the CPU decoding into
// pinned memory followed by a copy. Results are compared first. Markdown tables on stdout; without
// NVIDIA's library, a line that states it.
//   decode SAMPLES FOLDER [ROUNDS] [SCALE]
//     SAMPLES  samples/ of this project
//     FOLDER   where arrays are written, 0.8 GB at SCALE 1; removed at the end
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "bench/device/commands.hpp"
#include "bench/device/decode_arrays.hpp"
#include "headrace/core/error.hpp"
#include "headrace/device/cuda_device.hpp"
#include "headrace/zarr/device_decoder.hpp"

namespace headrace::device_bench {
namespace {

using device::cuda::DeviceBuffer;
using device::cuda::Stream;

// One batch, fetched into pinned memory of its decoder and decoded any number of times.
class Decoding {
 public:
  Decoding(const DecodeCase& c, zarr::DecodeOn on, ThreadPool& pool)
      : pool_(pool), decoder_(on), out_(c.origins.size() * c.window_bytes) {
    decoder_.lend_memory(batch_);
    for (const auto& origin : c.origins) {
      at_.push_back(at_.size() * c.window_bytes);
      batch_.add(c.array, {origin, c.size, nullptr, c.strides, {}});
    }
    batch_.fetch(pool_);
  }
  double seconds() {
    const auto begin = std::chrono::steady_clock::now();
    decoder_.start(batch_, pool_, at_, out_.size(), out_.as<std::byte>(), stream_);
    decoder_.finish(batch_);
    stream_.wait();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  }
  std::vector<std::byte> windows() {
    std::vector<std::byte> host(out_.size());
    copy_to_host(host.data(), out_.as<void>(), host.size(), stream_);
    stream_.wait();
    return host;
  }
  std::uint64_t encoded_bytes() const { return batch_.stats().bytes_read; }
  std::size_t bytes() const { return out_.size(); }
  const std::string& decoded_by() const { return decoder_.decoded_by(); }

 private:
  ThreadPool& pool_;
  zarr::BatchRead batch_;
  zarr::DeviceDecoder decoder_;
  DeviceBuffer out_;
  Stream stream_;
  std::vector<std::uint64_t> at_;
};

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

bool row(const DecodeCase& c, int rounds, ThreadPool& pool) {
  Decoding cpu(c, zarr::DecodeOn::cpu, pool), gpu(c, zarr::DecodeOn::gpu, pool);
  cpu.seconds();
  gpu.seconds();
  if (cpu.windows() != gpu.windows()) {
    fmt::print("| {} | {} | differs from the CPU, not timed | | | | | |\n", c.data, c.codec);
    return false;
  }
  std::vector<double> on_cpu, on_gpu;
  for (int i = 0; i < rounds; ++i) {
    on_cpu.push_back(cpu.seconds());
    on_gpu.push_back(gpu.seconds());
  }
  const double bytes = static_cast<double>(gpu.bytes());
  fmt::print("| {} | {} | {:.1f} → {:.1f} | {:.2f} | {:.2f} | {:.1f} | {:.1f} | {:.2f} | {} |\n",
             c.data, c.codec, static_cast<double>(gpu.encoded_bytes()) * 1e-6, bytes * 1e-6,
             median(on_cpu) * 1e3, median(on_gpu) * 1e3, bytes / median(on_cpu) * 1e-9,
             bytes / median(on_gpu) * 1e-9, median(on_cpu) / median(on_gpu), gpu.decoded_by());
  std::fflush(stdout);
  return true;
}

bool print_streams_table(const DecodeData& data, int rounds, ThreadPool& pool) {
  const std::string& missing = zarr::GpuDecoders::here().no_streams;
  if (!missing.empty()) {
    fmt::print("zstd and LZ4 on the GPU: not measured: {}\n\n", missing);
    return true;
  }
  fmt::print(
      "Batches that lie encoded in pinned memory, into windows in device memory; same bytes "
      "first, then medians of {} rounds. CPU: {} threads into pinned memory, then a copy. GPU: "
      "checksums and the plan on those threads, a copy of the encoded bytes, nvCOMP, placing.\n\n"
      "| a batch | codec | MB encoded → in windows | CPU, ms | GPU, ms | CPU, GB/s | GPU, GB/s | "
      "GPU over CPU | decoded by |\n|---|---|---|---|---|---|---|---|---|\n",
      rounds, pool.size());
  bool good = true;
  for (const DecodeCase& c : stream_cases(data, pool)) {
    try {
      good = row(c, rounds, pool) && good;
    } catch (const Error& error) {
      fmt::print("| {} | {} | failed: {} | | | | | |\n", c.data, c.codec, error.what());
      good = false;
    }
  }
  fmt::print("\n");
  return good;
}

}  // namespace

int decoding(int argc, char** argv) {
  if (argc < 3) fail(ErrorCode::usage, "usage: decode SAMPLES FOLDER [ROUNDS] [SCALE]");
  const int rounds = argc > 3 ? std::max(1, std::atoi(argv[3])) : 9;
  const DecodeData data{argv[1], argv[2], argc > 4 ? std::atof(argv[4]) : 1};
  std::filesystem::create_directories(data.folder);
  ThreadPool pool(0);
  fmt::print("{}\n\n", device::cuda::describe());
  bool good = print_streams_table(data, rounds, pool);
  good = print_jpeg_table(data, rounds, pool) && good;
  std::filesystem::remove_all(data.folder);
  return good ? 0 : 1;
}

}  // namespace headrace::device_bench
