// The feed alone: batches of a store, read, decoded, copied and transformed, to a consumer that
// takes a stated time for each, in a training's place (consumer.hpp). For each way of making
// batches and each time, patches a second, the part of the time that the consumer waited, and the
// part in which its stream had nothing to do. A Markdown table on stdout. Without a GPU a trial:
// batches of the CPU, and the host sleeps in the consumer's place.
//   feeding FOLDER slides|volumes [MS,MS,... [SECONDS [small]]]
//     FOLDER    where the store is written, if it is not there
//     MS        the consumer's time for a batch; 0: it only takes it
//     SECONDS   of each row; 1.5 if left out
//     small     a small store, to try it
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <sstream>
#include <thread>

#include "bench/device/bandwidth.hpp"
#include "bench/device/commands.hpp"
#include "bench/device/consumer.hpp"
#include "bench/device/feed_store.hpp"
#include "bench/device/ways.hpp"
#include "headrace/core/error.hpp"
#include "headrace/loader/loader.hpp"

namespace headrace::device_bench {
namespace {

using Clock = std::chrono::steady_clock;
using device::cuda::Event;
using device::cuda::Stream;

constexpr double kGoalMs = 50, kGoalWaiting = 0.05;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

/// One consumer; its step ends on the host, as a training's does with its loss.
class Consumer {
 public:
  /// Takes a batch. Of the times that it adds up: waited_s, for next(); idle_s and busy_s, the
  /// stream's, from the end of one step to the beginning of the next, and of a step.
  void take(loader::Loader& loader, double ms) {
    const auto begin = Clock::now();
    auto batch = *loader.next();
    waited_s += seconds_since(begin);
    samples += batch.samples;
    if (batch.device < 0) {
      std::this_thread::sleep_for(std::chrono::duration<double, std::milli>(ms));
      return;
    }
    if (!gpu_) gpu_ = std::make_unique<Gpu>();
    batch.hold(gpu_->stream.get());
    gpu_->begin.record(gpu_->stream);
    if (ms > 0) {
      consume(batch.images, batch.images_bytes(), ms, gpu_->sum.as<unsigned>(), gpu_->stream);
    }
    gpu_->end.record(gpu_->stream);
    batch.release_on(gpu_->stream.get());
    gpu_->stream.wait();
    if (gpu_->any) idle_s += gpu_->end_before.seconds_to(gpu_->begin);
    busy_s += gpu_->begin.seconds_to(gpu_->end);
    std::swap(gpu_->end_before, gpu_->end);
    gpu_->any = true;
  }

  std::int64_t samples = 0;
  double waited_s = 0, idle_s = 0, busy_s = 0;

 private:
  struct Gpu {
    Stream stream;
    Event begin{true}, end{true}, end_before{true};
    device::cuda::DeviceBuffer sum{sizeof(unsigned)};
    bool any = false;
  };
  std::unique_ptr<Gpu> gpu_;
};

/// The stream's idle part (the host's waiting, for the CPU's batches) with a step of `ms`; prints
/// the row.
double row(loader::Loader& loader, const Way& way, double ms, double seconds, int warm_up) {
  Consumer consumer;
  for (int i = 0; i < warm_up; ++i) consumer.take(loader, ms);  // what was made before it came
  consumer.samples = 0;
  consumer.waited_s = consumer.idle_s = consumer.busy_s = 0;
  const auto begin = Clock::now();
  int batches = 0;
  while (batches < 4 || seconds_since(begin) < seconds) {
    consumer.take(loader, ms);
    ++batches;
  }
  const double wall = seconds_since(begin), waited = consumer.waited_s / wall;
  const double on_gpu = consumer.idle_s + consumer.busy_s;
  const double idle = on_gpu > 0 ? consumer.idle_s / on_gpu : waited;
  const auto stats = loader.stats();
  if (way.device == device::DeviceChoice::cpu) {
    fmt::print("| {} | {:.0f} | {} | ran | ran | ran | {} | {} |\n", way.name, ms, batches,
               stats.decoded_by, stats.read_by);
    return idle;
  }
  fmt::print("| {} | {:.0f} | {} | {:.0f} | {:.1f} % | {:.1f} % | {} | {} |\n", way.name, ms,
             batches, static_cast<double>(consumer.samples) / wall, waited * 100, idle * 100,
             stats.decoded_by, stats.read_by);
  std::fflush(stdout);
  return idle;
}

std::vector<double> numbers(const std::string& text) {
  std::vector<double> out;
  std::stringstream parts(text);
  for (std::string part; std::getline(parts, part, ',');) out.push_back(std::atof(part.c_str()));
  return out;
}

}  // namespace

int feeding(int argc, char** argv) {
  const std::string kind = argc > 2 ? argv[2] : "";
  if (kind != "slides" && kind != "volumes") {
    fail(ErrorCode::usage, "usage: feeding FOLDER slides|volumes [MS,MS,... [SECONDS [small]]]");
  }
  const bool gpu = device::cuda::cuda_available();
  const std::vector<double> steps = numbers(argc > 3 ? argv[3] : "0,100,50,25");
  const double seconds = argc > 4 ? std::atof(argv[4]) : 1.5;
  const auto config = loader::LoaderConfig::load(
      feed_store(std::filesystem::absolute(argv[1]).string(), kind, argc > 5));
  const auto cohort = cohort::Cohort::open(config.data.store, config.data.version);
  fmt::print(
      "{}; {}batches of {} to a consumer that takes a stated time for each: it occupies every "
      "multiprocessor and computes nothing; {:.1f} s a row\n\n"
      "| batches made on | step, ms | batches | patches/s | waiting for data | its stream idle | "
      "decoded by | read by |\n|---|---|---|---|---|---|---|---|\n",
      device::cuda::describe(), gpu ? "" : "a trial on the CPU; ", config.sampling.batch, seconds);
  double best = std::numeric_limits<double>::infinity();
  for (const Way& way : ways(gpu)) {
    try {
      const loader::LoaderConfig fed = with(way, config);
      loader::Loader loader(cohort, fed, loader::make_training_plan(*cohort, fed), true);
      for (const double ms : steps) {
        const double idle = row(loader, way, ms, seconds, fed.loader.prefetch + 2);
        if (ms == kGoalMs) best = std::min(best, idle);
      }
    } catch (const Error& error) {
      if (!is_lacking(way, error)) throw;
      fmt::print("| {} | not measured: {} | | | | | | |\n", way.name, error.what());
    }
  }
  if (gpu && best <= 1) {
    fmt::print(
        "\n{}",
        against(fmt::format("{}: a step of {:.0f} ms waits for less than {:.0f} % of the time",
                            kind, kGoalMs, kGoalWaiting * 100),
                fmt::format("{:.1f} %", best * 100), best < kGoalWaiting));
  }
  return 0;
}

}  // namespace headrace::device_bench
