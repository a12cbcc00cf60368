#include "cli/bench_process.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "cli/bench_meter.hpp"
#include "headrace/core/error.hpp"
#include "headrace/device/cuda_device.hpp"
#include "headrace/process/process.hpp"

namespace headrace::cli {
namespace {

constexpr int kUsualChunk = 512;
constexpr int kChunks[] = {256, 512, 1024, 2048};
constexpr const char* kCpu = "CPU";
constexpr const char* kGpu = "GPU";
constexpr const char* kDirect = "GPU + GPUDirect";

struct Workflow {
  const process::ImageSource& source;
  std::string out;
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
    // The table comes at the end, and each run is printed as it ends, so that a run that never ends
    // does not hide earlier ones.
    fmt::print(stderr,
               "{}, {}, {} threads, chunks of {}: load {:.2f} s, save {:.2f} s, whole {:.2f} s\n",
               device, run.at("mode").get<std::string>(), threads, chunk, report.load_s,
               report.save_s, report.whole_s);
    return run;
  }

  /// One thread with the usual chunk, every core with all of them.
  void measure_all(const char* device, process::Mode mode, process::Accelerator* accelerator) {
    for (const int threads : std::set<int>{1, cores}) {
      for (const int chunk : kChunks) {
        const bool every = mode == process::Mode::global && threads == cores;
        if (!every && chunk != kUsualChunk) continue;
        runs.push_back(measure(device, mode, threads, chunk, accelerator));
      }
    }
  }

  /// Adds the runs on a GPU. Returns its name, or why there are none.
  Json measure_cuda() {
    std::unique_ptr<process::Accelerator> accelerator;
    try {
      accelerator = process::open_cuda_accelerator();
    } catch (const Error& error) {
      if (error.code() != ErrorCode::unsupported) throw;
      return {{"not_measured", device::cuda::describe()}};
    }
    // One unmeasured run: at the first run the driver starts and loads the kernels.
    measure(kGpu, process::Mode::tilewise, cores, kUsualChunk, accelerator.get());
    for (const process::Mode mode : {process::Mode::tilewise, process::Mode::global}) {
      measure_all(kGpu, mode, accelerator.get());
    }
    const auto direct = process::open_cuda_accelerator(storage::GpuDirect::automatic);
    measure_all(kDirect, process::Mode::global, direct.get());
    return {{"device", accelerator->name()}};
  }
};

}  // namespace

Json bench_process(const std::string& in, const std::string& out, int threads) {
  if (in.empty() || out.empty()) {
    fail(ErrorCode::usage, "bench process: give --input, an image, and --out, a new folder");
  }
  if (std::filesystem::exists(out)) {
    fail(ErrorCode::usage, "--out {}: is there already; name a new folder", out);
  }
  const auto source = process::ImageSource::open(in, "", 0);
  Workflow workflow{*source, out, threads > 0 ? threads : available_cores()};
  // Tile-wise first: the peak of memory never falls again. One unmeasured run fills the page cache.
  workflow.measure(kCpu, process::Mode::tilewise, workflow.cores, kUsualChunk, nullptr);
  for (const process::Mode mode : {process::Mode::tilewise, process::Mode::global}) {
    workflow.measure_all(kCpu, mode, nullptr);
  }
  Json cuda = workflow.measure_cuda();
  return {{"operation", "sobel"},
          {"cuda", std::move(cuda)},
          {"height", source->info().height},
          {"width", source->info().width},
          {"runs", workflow.runs}};
}

namespace {

// A line of the table: all runs that differ only in their chunk.
struct Row {
  std::string device, mode;
  int threads = 0;
  std::vector<Json> runs;

  bool holds(const Json& run) const {
    return run.at("device") == device && run.at("mode") == mode && run.at("threads") == threads;
  }
  double of(const Json& run, const char* key) const { return run.at(key).get<double>(); }
  const Json& usual() const {
    const auto found = std::find_if(runs.begin(), runs.end(),
                                    [](const Json& run) { return run.at("chunk") == kUsualChunk; });
    return found == runs.end() ? runs.front() : *found;
  }
  std::string save(int chunk) const {
    for (const Json& run : runs) {
      if (run.at("chunk") == chunk) return fmt::format("{:.2f}", of(run, "save_s"));
    }
    return "";
  }
  std::string files() const {
    const Json& run = usual();
    if (!run.contains("loaded_by")) return "";
    return fmt::format("read {}, written {}", run.at("loaded_by").get<std::string>(),
                       run.value("saved_by", "by the CPU"));
  }
  void print(double mpix) const {
    const Json& run = usual();
    fmt::print("| {} | {} | {} | {:.2f} | {:.2f} |", device, mode, threads, of(run, "load_s"),
               of(run, "process_s"));
    for (const int chunk : kChunks) fmt::print(" {} |", save(chunk));
    fmt::print(" {:.2f} | {:.2f} | {:.0f} | {} |\n", of(run, "whole_s"), of(run, "cpu_s"),
               mpix / of(run, "whole_s"), files());
  }
};

}  // namespace

void print_process_table(const Json& result) {
  const double mpix = result.at("height").get<double>() * result.at("width").get<double>() / 1e6;
  fmt::print(
      "Sobel of {} x {} pixels to uncompressed Zarr (float32), saved and synced; whole and load "
      "with chunks of {}. tilewise: stages overlap and are summed over threads.\n\n"
      "| device | mode | threads | load s | sobel s |",
      result.at("height").get<std::int64_t>(), result.at("width").get<std::int64_t>(), kUsualChunk);
  for (const int chunk : kChunks) fmt::print(" save {} |", chunk);
  fmt::print(
      " whole s | CPU s | Mpixel/s | files to the GPU |\n"
      "|---|---|---|---|---|---|---|---|---|---|---|---|---|\n");
  std::vector<Row> rows;
  for (const Json& run : result.at("runs")) {
    if (rows.empty() || !rows.back().holds(run)) {
      rows.push_back({run.at("device"), run.at("mode"), run.at("threads"), {}});
    }
    rows.back().runs.push_back(run);
  }
  for (const Row& row : rows) row.print(mpix);
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
