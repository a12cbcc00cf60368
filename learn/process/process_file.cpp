#include "learn/process/process_file.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <memory>

#include "headrace/core/error.hpp"
#include "headrace/core/option_name.hpp"
#include "headrace/device/cpu_isa.hpp"
#include "headrace/storage/place.hpp"

namespace headrace::process {
namespace {

bool on_gpu(const FileRequest& request) { return request.device == device::DeviceChoice::cuda; }

void check(const FileRequest& request) {
  const std::string& out = request.options.sink.path;
  if (request.load && !out.empty())
    fail(ErrorCode::usage, "OUT: load stores nothing; leave it out");
  if (!request.load && out.empty())
    fail(ErrorCode::usage, "OUT: name the Zarr folder or .tif to write");
  const bool decodes = request.options.decode == zarr::DecodeOn::gpu;
  if (!on_gpu(request) && (decodes || request.gpudirect != storage::GpuDirect::off)) {
    fail(ErrorCode::usage, "{} {} needs {} cuda", Option{decodes ? "decode" : "gpudirect"},
         decodes ? "gpu" : name_of(request.gpudirect), Option{"device"});
  }
  const auto from = storage::Place::parse(request.in);
  const auto to = storage::Place::parse(out).path();
  std::error_code ignored;
  if (!out.empty() && !from.is_url() && std::filesystem::equivalent(from.path(), to, ignored))
    fail(ErrorCode::usage, "{}: is IN and OUT at once; name another OUT", out);
}

Json common_report(const FileRequest& request, const ProcessReport& result) {
  const double mpix = static_cast<double>(result.height) * static_cast<double>(result.width) / 1e6;
  Json report{{"operation", result.operation},
              {"in", request.in},
              {"height", result.height},
              {"width", result.width},
              {"seconds",
               {{"whole", result.whole_s},
                {"statistics", result.statistics_s},
                {"load", result.load_s},
                {"process", result.process_s},
                {"save", result.save_s}}},
              {"seconds_are",
               result.overlapped ? "whole: elapsed; stages: summed over threads" : "elapsed"},
              {"mpix_per_s", mpix / result.whole_s},
              {"source_bytes", result.source_bytes},
              {"threads", result.workers},
              {"device", on_gpu(request) ? "cuda" : "cpu"},
              {"isa", device::name_of(device::cpu_isa())}};
  if (!result.loaded_by.empty()) report["loaded_by"] = result.loaded_by;
  return report;
}

}  // namespace

ProcessReport process_file(const FileRequest& request) {
  check(request);
  const auto accelerator = on_gpu(request) ? open_cuda_accelerator(request.gpudirect) : nullptr;
  const auto source = ImageSource::open(request.in, request.image, request.level);
  ThreadPool pool(request.threads);
  if (request.load) return load_image(*source, pool, accelerator.get(), request.options.decode);
  return process_image(*source, request.options, pool, accelerator.get());
}

Json report_of(const FileRequest& request, const ProcessReport& result) {
  Json report = common_report(request, result);
  if (request.load) return report;
  const ProcessOptions& options = request.options;
  report["out"] = options.sink.path;
  report["mode"] = name_of(options.mode);
  report["channels"] = result.channels;
  report["chunk"] = options.sink.chunk;
  report["tile"] = options.tile == 0 ? options.sink.chunk : options.tile;
  report["codec"] = name_of(options.sink.codec);
  report["chunks"] = {{"written", result.counts.written},
                      {"empty", result.counts.empty},
                      {"kept", result.counts.kept}};
  report["stored_bytes"] = result.counts.bytes;
  if (!result.saved_by.empty()) report["saved_by"] = result.saved_by;
  const bool tilewise = options.mode == Mode::tilewise;
  if (tilewise) report["memory_mib"] = options.memory_bytes >> 20;
  if (tilewise && on_gpu(request)) report["device_memory_mib"] = options.device_bytes >> 20;
  return report;
}

}  // namespace headrace::process
