#include "learn/process/process.hpp"

#include <optional>

#include "headrace/core/error.hpp"
#include "headrace/core/option_name.hpp"
#include "learn/process/device_image.hpp"
#include "learn/process/image_statistics.hpp"
#include "learn/process/regions.hpp"
#include "learn/process/tilewise.hpp"
#include "learn/process/whole_image.hpp"

namespace headrace::process {
namespace {

void check_chunk(std::int64_t chunk) {
  if (chunk != 256 && chunk != 512 && chunk != 1024 && chunk != 2048) {
    fail(ErrorCode::usage, "{} {}: 256, 512, 1024 and 2048 are there", Option{"chunk"}, chunk);
  }
}

/// Refuses what is required but not possible, before anything is read.
void check_ways(const ProcessOptions& options, const Accelerator* accelerator) {
  const bool on = accelerator != nullptr && accelerator->direct() == storage::GpuDirect::on;
  const bool gpu = options.decode == zarr::DecodeOn::gpu;
  if (gpu && accelerator == nullptr) {
    fail(ErrorCode::usage, "{} gpu needs {} cuda", Option{"decode"}, Option{"device"});
  }
  if ((on || gpu) && options.mode == Mode::tilewise) {
    fail(ErrorCode::usage,
         "{}: tile by tile, an image goes through the host; add {} global, or set it to auto",
         on ? "GPUDirect is on" : fmt::format("{} gpu", Option{"decode"}), Option{"mode"});
  }
  if (!on) return;
  const std::string why = ImageSink::why_no_files(options.sink);
  if (!why.empty()) {
    fail(ErrorCode::unsupported, "GPUDirect is on: {}. Set it to auto or off", why);
  }
}

SinkImage sink_image(const ImageSource& source, const Operation& operation) {
  const ImageInfo& info = source.info();
  return {info.height,          info.width,  operation.channel_names(),
          operation.dtype(),    info.mpp_y,  info.mpp_x,
          operation.describe(), info.format, source.fingerprint()};
}

ProcessReport report_of(const ImageInfo& info) {
  ProcessReport report;
  report.height = info.height;
  report.width = info.width;
  report.channels = info.channels;
  return report;
}

}  // namespace

ProcessReport process_image(const ImageSource& source, const ProcessOptions& options,
                            ThreadPool& pool, Accelerator* accelerator) {
  check_chunk(options.sink.chunk);
  check_ways(options, accelerator);
  StageClocks clocks;
  StageClock whole;
  ProcessReport report = report_of(source.info());
  {
    const StageClock::Running running(whole);
    Operation operation(options.operation, source.info().channels);
    std::optional<TilewisePlan> plan;
    std::optional<WholeImage> image;
    std::optional<DeviceImage> on_device;
    const ImageSource* loaded = &source;
    if (options.mode == Mode::tilewise) {
      plan =
          plan_tilewise(source.info(), operation, options.sink.chunk, options.tile,
                        options.sink.codec != SinkCodec::none, options.memory_bytes, pool.size());
    } else {
      const StageClock::Running loading(clocks.load);
      loaded = accelerator != nullptr ? static_cast<ImageSource*>(&on_device.emplace(
                                            source, pool, *accelerator, options.decode))
                                      : &image.emplace(source, pool);
    }
    if (operation.needs() != NeededStatistics::none) {
      const StageClock::Running gathering(clocks.statistics);
      operation.learn(on_device ? gather_statistics(*on_device, operation.needs())
                                : gather_statistics(*loaded, operation.needs(), pool));
    }
    std::unique_ptr<Regions> regions;  // made before the sink, so that a failure leaves nothing
    if (plan) {
      regions = accelerator != nullptr ? accelerated_regions(operation, *plan, source.info(),
                                                             *accelerator, options.device_bytes)
                                       : cpu_regions(operation, *plan);
    }
    const auto sink = ImageSink::open(options.sink, sink_image(source, operation));
    report.source_bytes =
        static_cast<std::uint64_t>(report.height * report.width * report.channels);
    if (plan) {
      report.source_bytes =
          run_tilewise(source, operation, *sink, *plan, *regions, options.sink.chunk, pool, clocks);
    } else if (on_device) {
      report.loaded_by = on_device->loaded_by();
      report.saved_by =
          run_on_device(*on_device, operation, *sink, options.sink.chunk, pool, clocks);
    } else {
      run_whole(*image, operation, *sink, options.sink.chunk, pool, clocks);
    }
    {
      const StageClock::Running saving(clocks.save);
      sink->finish();
    }
    report.counts = sink->counts();
    report.channels = operation.channels();
    report.operation = operation.describe();
    report.overlapped = plan.has_value();
    report.workers = plan ? static_cast<int>(plan->workers) : pool.size();
  }
  report.whole_s = whole.seconds();
  report.statistics_s = clocks.statistics.seconds();
  report.load_s = clocks.load.seconds();
  report.process_s = clocks.process.seconds();
  report.save_s = clocks.save.seconds();
  return report;
}

ProcessReport load_image(const ImageSource& source, ThreadPool& pool, Accelerator* accelerator,
                         zarr::DecodeOn decode) {
  StageClock whole;
  ProcessReport report = report_of(source.info());
  {
    const StageClock::Running running(whole);
    if (accelerator != nullptr) {
      const DeviceImage image(source, pool, *accelerator, decode);
      report.loaded_by = image.loaded_by();
    } else {
      const WholeImage image(source, pool);
    }
  }
  report.load_s = report.whole_s = whole.seconds();
  report.workers = pool.size();
  report.source_bytes = static_cast<std::uint64_t>(report.height * report.width * report.channels);
  report.operation = {{"name", "load"}};
  return report;
}

}  // namespace headrace::process
