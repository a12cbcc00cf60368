#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "cli/bench_meter.hpp"
#include "cli/bench_process.hpp"
#include "cli/bench_work.hpp"
#include "cli/commands.hpp"
#include "cli/open_run.hpp"
#include "headrace/core/error.hpp"

namespace headrace::cli {
namespace {

constexpr const char* kFooter =
    "Examples:\n"
    "  headrace bench loader --config run.yaml --count 128 --threads 2 --json\n"
    "  headrace bench read --store cohort.zarr --image slide20k --size 512 --seed 101 --count 160 "
    "--json\n"
    "  headrace bench process --input slide.svs --out bench-out\n"
    "\n"
    "  read       patches of a level, one read each, no transform\n"
    "  transform  draw, locate and transform, windows already in memory\n"
    "  loader     the whole way from the store into batches (count is rounded up to whole "
    "batches)\n"
    "  process    a whole image from file to Zarr, load, save and whole, one thread and many\n"
    "Each does the work once before the clock starts: what is measured is the warm, steady state.\n"
    "With --store, positions are those of splitmix64 from --seed: (z,) y, then x, each next() mod "
    "(extent - size + 1).\n"
    "Exit codes: 0 done, 1 failed, 2 usage, 4 a chunk is damaged.";

Json bench_loader(const BenchArguments& a) {
  const RunInputs inputs = open_run(a.config, "", a.threads, device::DeviceChoice::cpu);
  const auto batch = static_cast<std::uint64_t>(inputs.config.sampling.batch);
  const std::uint64_t batches = (a.count + batch - 1) / batch;
  loader::Loader loader(inputs.cohort, inputs.config, inputs.plan, inputs.preprocessing,
                        {.with_labels = inputs.with_labels()});
  // The ring is full before and after, so exactly `batches` batches are made between. The samples
  // follow each other in the epoch and none repeats: the page cache has the store after the warm-up
  // of the whole command.
  const auto ring = static_cast<std::uint64_t>(inputs.config.loader.prefetch);
  for (std::uint64_t i = 0; i < batches + ring; ++i) loader.next();
  loader.fill();
  const loader::StallStats before = loader.stats();
  Meter meter;
  for (std::uint64_t i = 0; i < batches; ++i) loader.next();
  loader.fill();
  std::uint64_t sample_bytes = sizeof(float);
  for (const std::int64_t n : image_shape(inputs)) sample_bytes *= static_cast<std::uint64_t>(n);
  for (std::size_t i = 1; i < inputs.config.views.size(); ++i) {
    const auto& view = inputs.config.views[i];
    sample_bytes += sizeof(float) * 3 * static_cast<std::uint64_t>(view.crops) *
                    static_cast<std::uint64_t>(view.patch.height) *
                    static_cast<std::uint64_t>(view.patch.width);
  }
  const int threads =
      inputs.config.loader.threads > 0 ? inputs.config.loader.threads : available_cores();
  Json result = meter.report(batches * batch, batches * batch * sample_bytes, threads);
  const loader::StallStats after = loader.stats();
  const auto per_item = [&](double from, double to) {
    return (to - from) * 1e3 / static_cast<double>(batches * batch);
  };
  result["plan_ms_per_item"] = per_item(before.plan_s, after.plan_s);
  result["read_ms_per_item"] = per_item(before.read_s, after.read_s);
  result["decode_ms_per_item"] = per_item(before.decode_s, after.decode_s);
  result["transform_ms_per_item"] = per_item(before.transform_s, after.transform_s);
  result["stored_bytes_per_item"] = (after.bytes_read - before.bytes_read) / (batches * batch);
  if (!inputs.config.volumes) result["contexts"] = inputs.config.patch.context.size();
  result["stall"] = stall_json(after);
  return result;
}

void run(const BenchArguments& a) {
  const BenchWork work = a.what.value();
  if (work == BenchWork::process) {
    const int threads = std::max(a.threads, 0);
    if (a.json) {
      fmt::print("{}", dump_json(bench_process(a.input, a.out, threads)));
    } else {
      print_process_table(a.input, a.out, threads);
    }
    return;
  }
  const bool read = work == BenchWork::read;
  if (read ? a.config.empty() == a.store.empty() : a.config.empty()) {
    fail(ErrorCode::usage, "bench {}: give --config{}", name_of(work),
         read ? ", or --store and --image" : "");
  }
  if (!a.store.empty() && (!read || a.image.empty())) {
    fail(ErrorCode::usage, "--store goes with bench read and --image");
  }
  Json result = read                           ? bench_read(a)
                : work == BenchWork::transform ? bench_transform(a)
                                               : bench_loader(a);
  result["work"] = name_of(work);
  if (a.json) {
    fmt::print("{}", dump_json(result));
    return;
  }
  for (const auto& [key, value] : result.items()) {
    if (!value.is_object()) fmt::print("{:<24} {}\n", key, value.dump());
  }
}

}  // namespace

void add_bench(Command app) {
  Command bench = app.subcommand(
      "bench", "Measures reading, transforming or loading of patches, or processing of images.");
  bench.footer(kFooter);
  auto a = std::make_shared<BenchArguments>();
  bench.choice("WHAT", a->what, "what is measured").required();
  bench.option("--config", a->config, "run config (YAML): store, patch, sampling, transforms");
  bench.option("--count", a->count, "items to measure").shows_default().range(1, 100'000'000);
  bench.option("--threads", a->threads, "0: every core [default: the config's, else every core]")
      .range(0, 1024);
  bench.option("--store", a->store, "read: a store, instead of --config");
  bench.option("--image", a->image, "read: name of an image of --store");
  bench.option("--level", a->level, "read: pyramid level of --image").shows_default();
  bench
      .option("--size", a->size,
              "read: edge in pixels of the patches of --image; 0: 512, of volumes 96")
      .shows_default()
      .range(0, 65536);
  bench.option("--seed", a->seed, "read: where splitmix64 starts").shows_default();
  bench.option("--input", a->input, "process: a slide or image file, or a Zarr image");
  bench.option("--out", a->out, "process: a new folder for results, removed afterwards");
  bench.flag("--json", a->json, "print one JSON object");
  bench.callback([a] { run(*a); });
}

}  // namespace headrace::cli
