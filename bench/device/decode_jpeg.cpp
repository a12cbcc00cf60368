#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <optional>
#include <thread>

#include "bench/device/decode_arrays.hpp"
#include "headrace/core/error.hpp"
#include "headrace/zarr/device_decoder.hpp"
#include "headrace/zarr/nvidia/jpeg_batch.hpp"

namespace headrace::device_bench {
namespace {

using device::cuda::DeviceBuffer;
using device::cuda::PinnedBuffer;
using device::cuda::Stream;
using Segments = std::span<const zarr::DecodePlan::Segment>;

// A single back end of nvJPEG, in its own stream.
class Engine {
 public:
  explicit Engine(const char* backend) {
    setenv("HEADRACE_NVJPEG_BACKEND", backend, 1);
    jpegs_ = std::make_unique<zarr::JpegBatch>();
  }
  void decode(Segments segments, const std::byte* encoded, std::byte* decoded) {
    const std::size_t left = jpegs_->start(segments, {}, encoded, decoded, stream_).size();
    stream_.wait();
    if (left > 0) {
      fail(ErrorCode::unsupported, "it leaves {} of {} JPEGs to the CPU: {}", left, segments.size(),
           jpegs_->why_left());
    }
  }

 private:
  std::unique_ptr<zarr::JpegBatch> jpegs_;
  Stream stream_;
};

class JpegBench {
 public:
  JpegBench(const DecodeCase& c, int rounds, ThreadPool& pool)
      : case_(c), rounds_(rounds), pool_(pool) {
    batch_.read_into([this](std::size_t size_bytes) {
      encoded_.reserve(size_bytes);
      return encoded_.as<std::byte>();
    });
    std::vector<std::uint64_t> at;
    for (const auto& origin : c.origins) {
      at.push_back(at.size() * c.window_bytes);
      batch_.add(c.array, {origin, c.size, nullptr, c.strides, {}});
    }
    batch_.fetch(pool);
    batch_.plan_decode(pool, at, plan_);
    if (plan_.segments.size() != c.origins.size()) {
      fail(ErrorCode::internal, "{} tiles, {} JPEGs", c.origins.size(), plan_.segments.size());
    }
    windows_.reserve(at.size() * c.window_bytes);
    decoded_.reserve(std::max<std::size_t>(plan_.decoded_bytes, windows_.size()));
    decode_on_cpu();
    fmt::print("| {}, {:.1f} kB each | libjpeg-turbo, {} threads, and a copy | {} | |\n", c.data,
               static_cast<double>(plan_.encoded_bytes) / static_cast<double>(at.size()) * 1e-3,
               pool.size(), rate([&] { decode_on_cpu(); }));
  }

  bool has_engines() const { return has_engines_; }

  /// part: the part of the tiles that the engines take; the kernels take the rest at the same time.
  bool row(const char* name, double part) {
    try {
      const Segments all = plan_.segments;
      const auto first = static_cast<std::size_t>(std::lround(part * double(all.size())));
      std::unique_ptr<Engine> engines, kernels;
      if (first > 0) engines = std::make_unique<Engine>(part == 1 ? name : "hardware");
      if (first < all.size()) kernels = std::make_unique<Engine>(part == 0 ? name : "gpu");
      const auto work = [&] {
        std::exception_ptr failed;
        std::thread beside([&] {
          try {
            if (engines) {
              engines->decode(all.first(first), batch_.encoded(), decoded_.as<std::byte>());
            }
          } catch (...) {
            failed = std::current_exception();
          }
        });
        try {
          if (kernels) {
            kernels->decode(all.subspan(first), batch_.encoded(), decoded_.as<std::byte>());
          }
        } catch (...) {
          beside.join();
          throw;
        }
        beside.join();
        if (failed) std::rethrow_exception(failed);
      };
      work();
      double mean = 0;
      const std::string difference = difference_from_cpu(mean);
      const std::string label = part > 0 && part < 1
                                    ? fmt::format("engines {:.0f} %, kernels the rest", part * 100)
                                    : fmt::format("nvJPEG ({})", name);
      if (mean > kMostMean) {
        fmt::print("| {} | {} | differs from the CPU, not timed | | {} |\n", case_.data, label,
                   difference);
        return false;
      }
      fmt::print("| {} | {} | {} | {} |\n", case_.data, label, rate(work), difference);
      std::fflush(stdout);
      has_engines_ = has_engines_ || part == 1;
      return true;
    } catch (const Error& error) {
      fmt::print("| {} | nvJPEG ({}) | not measured: {} | |\n", case_.data, name, error.what());
      // A back end that this GPU lacks does not count as a failure.
      return error.code() == ErrorCode::device || error.code() == ErrorCode::unsupported;
    }
  }

 private:
  void decode_on_cpu() {
    auto* host = windows_.as<std::byte>();
    pool_.parallel_for(case_.origins.size(),
                       [&](std::size_t i) { batch_.decode(i, host + i * case_.window_bytes); });
    copy_to_device(decoded_.as<void>(), host, windows_.size(), stream_);
    stream_.wait();
  }

  template <typename Work>
  std::string rate(const Work& work) const {
    std::vector<double> seconds;
    for (int i = 0; i < rounds_; ++i) {
      const auto begin = std::chrono::steady_clock::now();
      work();
      seconds.push_back(
          std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
    }
    std::sort(seconds.begin(), seconds.end());
    const double median = seconds[seconds.size() / 2];
    return fmt::format("{:.0f} | {:.2f}", static_cast<double>(case_.origins.size()) / median,
                       static_cast<double>(windows_.size()) / median * 1e-9);
  }

  // Levels between the decoders, mean and largest. Wrong colours are tens of levels apart.
  static constexpr double kMostMean = 2;
  std::string difference_from_cpu(double& mean) {
    std::vector<std::uint8_t> there(plan_.decoded_bytes);
    copy_to_host(there.data(), decoded_.as<void>(), there.size(), stream_);
    stream_.wait();
    const auto* here = windows_.as<std::uint8_t>();
    std::uint64_t sum = 0;
    int most = 0;
    for (std::size_t i = 0; i < plan_.segments.size(); ++i) {
      const std::uint8_t* tile = there.data() + plan_.segments[i].decoded_offset;
      for (std::uint64_t k = 0; k < case_.window_bytes; ++k) {
        const int levels = std::abs(int{tile[k]} - int{here[i * case_.window_bytes + k]});
        sum += static_cast<std::uint64_t>(levels);
        most = std::max(most, levels);
      }
    }
    mean = static_cast<double>(sum) / static_cast<double>(windows_.size());
    return fmt::format("{:.3f}, {}", mean, most);
  }

  const DecodeCase& case_;
  int rounds_;
  ThreadPool& pool_;
  zarr::BatchRead batch_;
  zarr::DecodePlan plan_;
  bool has_engines_ = false;
  PinnedBuffer encoded_, windows_;
  DeviceBuffer decoded_;
  Stream stream_;
};

}  // namespace

bool print_jpeg_table(const DecodeData& data, int rounds, ThreadPool& pool) {
  const std::string& missing = zarr::GpuDecoders::here().no_jpeg;
  if (!missing.empty()) {
    fmt::print("JPEG on the GPU: not measured: {}\n", missing);
    return true;
  }
  fmt::print(
      "JPEG tiles from pinned memory into device memory, one batch, medians of {} rounds. "
      "Decoders differ by some levels of 255: mean and largest against "
      "libjpeg-turbo.\n\n| tiles | decoder | tiles/s | GB/s decoded | levels apart |\n"
      "|---|---|---|---|---|\n",
      rounds);
  bool good = true;
  const std::function<DecodeCase()> cases[] = {[&] { return jpeg_case(data, 256, pool); },
                                               [&] { return jpeg_case(data, 512, pool); },
                                               [&] { return aperio_case(data); }};
  for (const auto& make : cases) {
    std::optional<DecodeCase> made;
    try {
      made = make();
    } catch (const Error& error) {
      fmt::print("| not measured: {} | | | | |\n", error.what());  // a sample that was left out
      continue;
    }
    const DecodeCase& c = *made;
    JpegBench bench(c, rounds, pool);
    good = bench.row("hardware", 1) && good;
    good = bench.row("gpu", 0) && good;
    good = bench.row("standard", 0) && good;
    if (!bench.has_engines()) continue;
    for (const double part : {0.25, 0.5, 0.75}) good = bench.row("hardware and gpu", part) && good;
  }
  return good;
}

}  // namespace headrace::device_bench
