#include "cli/bench_process.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <set>

#include "cli/bench_meter.hpp"
#include "headrace/core/error.hpp"
#include "headrace/device/cuda_device.hpp"
#include "learn/process/process.hpp"

namespace headrace::cli {
namespace {

constexpr int kUsualChunk = 512;
constexpr int kChunks[] = {256, 512, 1024, 2048};
constexpr const char* kCpu = "CPU";
constexpr const char* kGpu = "GPU";
constexpr const char* kDirect = "GPU + GPUDirect";

struct Workflow {
  const process::ImageSource& source;
  const std::string& out;
  const ProcessListener& listener;
  int cores;
  Json runs = Json::array();

  Json measure(const char* device, process::Mode mode, int threads, int chunk,
               process::Accelerator* accelerator) const {
    process::ProcessOptions options;
    options.operation.name = process::OperationName::sobel;
    options.mode = mode;
    options.sink.path = out;
    options.sink.chunk = chunk;
    ThreadPool pool(threads);
    const Meter meter;
    const auto report = process::process_image(source, options, pool, accelerator);
    std::filesystem::remove_all(out);
    const Json used = meter.report(1, 1, threads);
    Json run{
        {"device", device},
        {"mode", name_of(mode)},
        {"threads", threads},
        {"chunk", chunk},
        {"load_s", report.load_s},
        {"process_s", report.process_s},
        {"save_s", report.save_s},
        {"whole_s", report.whole_s},
        {"cpu_s", used.at("cpu_ms_per_item").get<double>() / 1e3},
        {"peak_rss_mb", used.at("peak_rss_mb")},
        {"stages", report.overlapped ? "overlapped, summed over threads" : "one after the other"},
        {"stored_bytes", report.counts.bytes}};
    if (!report.loaded_by.empty()) run["loaded_by"] = report.loaded_by;
    if (!report.saved_by.empty()) run["saved_by"] = report.saved_by;
    return run;
  }

  /// One thread with the usual chunk, every core with all of them.
  void measure_all(const char* device, process::Mode mode, process::Accelerator* accelerator) {
    for (const int threads : std::set<int>{1, cores}) {
      std::vector<Json> row;
      for (const int chunk : kChunks) {
        const bool every = mode == process::Mode::global && threads == cores;
        if (every || chunk == kUsualChunk)
          row.push_back(measure(device, mode, threads, chunk, accelerator));
      }
      for (const Json& run : row) runs.push_back(run);
      if (listener.row) listener.row(row);
    }
  }

  /// All runs, on a GPU first where there is one. Returns its name, or why there are none.
  Json measure_all() {
    // Unmeasured: it fills the page cache.
    measure(kCpu, process::Mode::tilewise, cores, kUsualChunk, nullptr);
    std::unique_ptr<process::Accelerator> gpu, direct;
    Json cuda;
    try {
      gpu = process::open_cuda_accelerator();
      direct = process::open_cuda_accelerator(storage::GpuDirect::automatic);
      // Unmeasured: at the first run the driver starts and loads the kernels.
      measure(kGpu, process::Mode::tilewise, cores, kUsualChunk, gpu.get());
      cuda = {{"device", gpu->name()}};
    } catch (const Error& error) {
      if (error.code() != ErrorCode::unsupported) throw;
      cuda = {{"not_measured", device::cuda::describe()}};
    }
    // Tile-wise first: the peak of memory never falls again.
    for (const process::Mode mode : {process::Mode::tilewise, process::Mode::global}) {
      if (gpu) measure_all(kGpu, mode, gpu.get());
      if (direct && mode == process::Mode::global) measure_all(kDirect, mode, direct.get());
      measure_all(kCpu, mode, nullptr);
    }
    return cuda;
  }
};

}  // namespace

Json bench_process(const std::string& in, const std::string& out, int threads,
                   const ProcessListener& listener) {
  if (in.empty() || out.empty()) {
    fail(ErrorCode::usage, "bench process: give --input, an image, and --out, a new folder");
  }
  if (std::filesystem::exists(out)) {
    fail(ErrorCode::usage, "--out {}: is there already; name a new folder", out);
  }
  const auto source = process::ImageSource::open(in, "", 0);
  if (listener.image) listener.image(source->info().height, source->info().width);
  Workflow workflow{*source, out, listener, threads > 0 ? threads : available_cores()};
  Json cuda = workflow.measure_all();
  return {{"operation", "sobel"},
          {"cuda", std::move(cuda)},
          {"height", source->info().height},
          {"width", source->info().width},
          {"runs", workflow.runs}};
}

namespace {

double of(const Json& run, const char* key) { return run.at(key).get<double>(); }

std::string save(const std::vector<Json>& row, int chunk) {
  for (const Json& run : row) {
    if (run.at("chunk") == chunk) return fmt::format("{:.2f}", of(run, "save_s"));
  }
  return "";
}

std::string files(const Json& run) {
  if (!run.contains("loaded_by")) return "";
  return fmt::format("read {}, written {}", run.at("loaded_by").get<std::string>(),
                     run.value("saved_by", "by the CPU"));
}

void print_head(std::int64_t height, std::int64_t width) {
  fmt::print(
      "Sobel of {} x {} pixels to uncompressed Zarr (float32), saved and synced; whole and load "
      "with chunks of {}. tilewise: stages overlap and are summed over threads.\n\n"
      "| device | mode | threads | load s | sobel s |",
      height, width, kUsualChunk);
  for (const int chunk : kChunks) fmt::print(" save {} |", chunk);
  fmt::print(
      " whole s | CPU s | Mpixel/s | files to the GPU |\n"
      "|---|---|---|---|---|---|---|---|---|---|---|---|---|\n");
}

void print_row(const std::vector<Json>& row, double mpix) {
  const Json& run = *std::find_if(row.begin(), row.end(),
                                  [](const Json& r) { return r.at("chunk") == kUsualChunk; });
  fmt::print("| {} | {} | {} | {:.2f} | {:.2f} |", run.at("device").get<std::string>(),
             run.at("mode").get<std::string>(), run.at("threads").get<int>(), of(run, "load_s"),
             of(run, "process_s"));
  for (const int chunk : kChunks) fmt::print(" {} |", save(row, chunk));
  fmt::print(" {:.2f} | {:.2f} | {:.0f} | {} |\n", of(run, "whole_s"), of(run, "cpu_s"),
             mpix / of(run, "whole_s"), files(run));
  std::fflush(stdout);
}

}  // namespace

void print_process_table(const std::string& in, const std::string& out, int threads) {
  double mpix = 0;
  const Json result = bench_process(in, out, threads,
                                    {[&](std::int64_t height, std::int64_t width) {
                                       mpix = static_cast<double>(height * width) / 1e6;
                                       print_head(height, width);
                                     },
                                     [&](const std::vector<Json>& row) { print_row(row, mpix); }});
  const Json& cuda = result.at("cuda");
  if (cuda.contains("not_measured")) {
    for (const char* device : {kGpu, kDirect}) {
      fmt::print("| {} | not measured: {} | | | | | | | | | | | |\n", device,
                 cuda.at("not_measured").get<std::string>());
    }
  } else {
    fmt::print("\n{}\n", cuda.at("device").get<std::string>());
  }
}

}  // namespace headrace::cli
