#include "cli/bench_process.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <set>

#include "cli/bench_meter.hpp"
#include "headrace/core/error.hpp"
#include "headrace/device/cuda_device.hpp"
#include "headrace/process/process.hpp"

namespace headrace::cli {
namespace {

Json measure(const process::ImageSource& source, const std::string& out, process::Mode mode,
             int threads, process::Accelerator* accelerator = nullptr) {
  process::ProcessOptions options;
  options.operation.name = process::OperationName::sobel;
  options.mode = mode;
  options.sink.path = out;
  ThreadPool pool(threads);
  const Meter meter;
  const process::ProcessReport report = process::process_image(source, options, pool, accelerator);
  std::filesystem::remove_all(out);
  const Json used = meter.report(1, 1, threads);
  return {{"mode", mode == process::Mode::global ? "global" : "tilewise"},
          {"device", accelerator == nullptr ? "cpu" : "cuda"},
          {"threads", threads},
          {"load_s", report.load_s},
          {"process_s", report.process_s},
          {"save_s", report.save_s},
          {"whole_s", report.whole_s},
          {"cpu_s", used.at("cpu_ms_per_item").get<double>() / 1e3},
          {"peak_rss_mb", used.at("peak_rss_mb")},
          {"stages", report.overlapped ? "overlapped, summed over threads" : "one after the other"},
          {"stored_bytes", report.counts.bytes}};
}

/// Adds the runs on a GPU. Returns its name, or why there are none.
Json measure_cuda(const process::ImageSource& source, const std::string& out, int threads,
                  Json& runs) {
  std::unique_ptr<process::Accelerator> accelerator;
  try {
    accelerator = process::open_cuda_accelerator();
  } catch (const Error& error) {
    if (error.code() != ErrorCode::unsupported) throw;
    return {{"not_measured", device::cuda::describe()}};
  }
  // One unmeasured run: the driver begins, and loads the kernels, at the first.
  measure(source, out, process::Mode::tilewise, threads, accelerator.get());
  for (const process::Mode mode : {process::Mode::tilewise, process::Mode::global}) {
    for (const int count : std::set<int>{1, threads}) {
      runs.push_back(measure(source, out, mode, count, accelerator.get()));
    }
  }
  return {{"device", accelerator->name()}};
}

}  // namespace

Json bench_process(const std::string& in, const std::string& out, int threads) {
  if (in.empty() || out.empty()) {
    fail(ErrorCode::usage, "bench process: give --input, an image, and --out, a new folder");
  }
  if (std::filesystem::exists(out)) {
    fail(ErrorCode::usage, "--out {}: is there already; name a new folder", out);
  }
  const auto source = process::ImageSource::open(in, "", 0);
  const int cores = threads > 0 ? threads : available_cores();
  Json runs = Json::array();
  // Tile-wise first: the peak of memory never falls again. One unmeasured run fills the page cache.
  measure(*source, out, process::Mode::tilewise, cores);
  for (const process::Mode mode : {process::Mode::tilewise, process::Mode::global}) {
    for (const int count : std::set<int>{1, cores}) {
      runs.push_back(measure(*source, out, mode, count));
    }
  }
  Json cuda = measure_cuda(*source, out, cores, runs);
  return {{"operation", "sobel"},
          {"cuda", std::move(cuda)},
          {"height", source->facts().height},
          {"width", source->facts().width},
          {"runs", runs}};
}

void print_process_table(const Json& result) {
  const double mpix = result.at("height").get<double>() * result.at("width").get<double>() / 1e6;
  fmt::print("sobel of {} x {} pixels to Zarr\n", result.at("height").get<std::int64_t>(),
             result.at("width").get<std::int64_t>());
  fmt::print("{:<8} {:<10} {:>7} {:>9} {:>10} {:>9} {:>9} {:>9} {:>9}\n", "device", "mode",
             "threads", "load s", "process s", "save s", "whole s", "CPU s", "Mpixel/s");
  for (const Json& run : result.at("runs")) {
    const auto number = [&](const char* key) { return run.at(key).get<double>(); };
    fmt::print("{:<8} {:<10} {:>7} {:>9.2f} {:>10.2f} {:>9.2f} {:>9.2f} {:>9.2f} {:>9.0f}\n",
               run.at("device").get<std::string>(), run.at("mode").get<std::string>(),
               run.at("threads").get<int>(), number("load_s"), number("process_s"),
               number("save_s"), number("whole_s"), number("cpu_s"), mpix / number("whole_s"));
  }
  const Json& cuda = result.at("cuda");
  if (cuda.contains("not_measured")) {
    fmt::print("cuda: not measured: {}\n", cuda.at("not_measured").get<std::string>());
  } else {
    fmt::print("cuda: {}\n", cuda.at("device").get<std::string>());
  }
  fmt::print("tilewise: load, process and save overlap and are summed over threads.\n");
}

}  // namespace headrace::cli
