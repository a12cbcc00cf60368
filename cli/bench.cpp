#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "cli/bench_meter.hpp"
#include "cli/commands.hpp"
#include "cli/run_inputs.hpp"
#include "headrace/core/error.hpp"
#include "headrace/loader/level_choice.hpp"
#include "headrace/transform/graph.hpp"

namespace headrace::cli {
namespace {

constexpr const char* kFooter =
    "Examples:\n"
    "  headrace bench loader --config run.yaml --count 128 --threads 2 --json\n"
    "  headrace bench read --store cohort.zarr --image slide20k --size 512 --seed 101 --count 160 "
    "--json\n"
    "\n"
    "  read       patches of a level, one read each, no transform\n"
    "  transform  draw, locate and transform, windows already in memory\n"
    "  loader     the whole way from the store into batches (count is rounded up to whole "
    "batches)\n"
    "Each does the work once before the clock starts: what is measured is the warm, steady state.\n"
    "With --store, positions are those of splitmix64 from --seed: y, then x, each next() mod "
    "(extent - size + 1).\n"
    "Exit codes: 0 done, 1 failed, 2 usage, 4 a chunk is damaged.";

struct Arguments {
  std::string what, config, store, image;
  std::uint64_t count = 128, seed = 101;
  std::int64_t size = 512, level = 0;
  int threads = -1;
  bool json = false;
};

/// One patch to read: a box of a level.
struct Patch {
  std::shared_ptr<const zarr::Array> array;
  std::int64_t y = 0, x = 0, height = 0, width = 0;
};

std::uint64_t splitmix64(std::uint64_t& state) {
  std::uint64_t z = state += 0x9E3779B97F4A7C15u;
  z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
  z = (z ^ z >> 27) * 0x94D049BB133111EBu;
  return z ^ z >> 31;
}

std::vector<Patch> patches_by_seed(const Arguments& a) {
  const auto cohort = source::Cohort::open(a.store);
  const std::size_t image = cohort->find_image(a.image);
  const auto& levels = cohort->images()[image].levels;
  if (a.level < 0 || a.level >= static_cast<std::int64_t>(levels.size())) {
    fail(ErrorCode::usage, "--level {}: image {} has levels 0 to {}", a.level, a.image,
         levels.size() - 1);
  }
  const auto& level = levels[static_cast<std::size_t>(a.level)];
  if (level.height < a.size || level.width < a.size) {
    fail(ErrorCode::usage, "--size {}: level {} of {} has {} x {} pixels", a.size, a.level, a.image,
         level.height, level.width);
  }
  std::vector<Patch> patches(a.count);
  std::uint64_t state = a.seed;
  for (Patch& patch : patches) {
    patch.array = cohort->image_array(image, static_cast<std::size_t>(a.level));
    patch.y = static_cast<std::int64_t>(splitmix64(state) %
                                        static_cast<std::uint64_t>(level.height - a.size + 1));
    patch.x = static_cast<std::int64_t>(splitmix64(state) %
                                        static_cast<std::uint64_t>(level.width - a.size + 1));
    patch.height = patch.width = a.size;
  }
  return patches;
}

std::vector<Patch> patches_by_plan(const Arguments& a) {
  const RunInputs inputs = open_run(a.config, "", a.threads, "cpu");
  std::vector<Patch> patches(a.count);
  for (std::uint64_t i = 0; i < a.count; ++i) {
    const auto site = inputs.plan->site(0, i);
    const auto& image = inputs.cohort->images()[site.image];
    const std::size_t k = loader::choose_level(image, 1, inputs.config);
    const auto& level = image.levels[k];
    Patch& patch = patches[i];
    patch.array = inputs.cohort->image_array(site.image, k);
    patch.height = std::min<std::int64_t>(inputs.config.patch.height, level.height);
    patch.width = std::min<std::int64_t>(inputs.config.patch.width, level.width);
    const auto corner = [](double centre, std::int64_t size, std::int64_t extent) {
      return std::clamp<std::int64_t>(static_cast<std::int64_t>(centre) - size / 2, 0,
                                      extent - size);
    };
    patch.y = corner(site.centre_level0_yx[0] / level.downsample_yx[0], patch.height, level.height);
    patch.x = corner(site.centre_level0_yx[1] / level.downsample_yx[1], patch.width, level.width);
  }
  return patches;
}

Json bench_read(const Arguments& a) {
  const auto patches = a.store.empty() ? patches_by_plan(a) : patches_by_seed(a);
  ThreadPool pool(std::max(a.threads, 0));
  device::BufferPool buffers;
  Json result;
  std::uint64_t bytes = 0;
  for (const Patch& patch : patches)
    bytes += static_cast<std::uint64_t>(patch.height * patch.width * 3);
  const auto read_all = [&] {
    pool.parallel_for(patches.size(), [&](std::size_t i) {
      const Patch& patch = patches[i];
      auto buffer = buffers.take(static_cast<std::size_t>(patch.height * patch.width * 3));
      patch.array->read({{0, patch.y, patch.x},
                         {3, patch.height, patch.width},
                         buffer->data(),
                         {1, 3 * patch.width, 3},
                         {}});
    });
  };
  read_all();
  Meter meter;
  read_all();
  result = meter.report(patches.size(), bytes, pool.size());
  return result;
}

/// A sample whose windows are in memory.
struct Prepared {
  loader::SampleSite site;
  std::vector<device::HostBuffer> windows;
  std::vector<std::int64_t> row_bytes;
};

std::array<double, 2> on_level(const loader::SampleSite& site, const source::ImageLevel& level) {
  return {site.centre_level0_yx[0] / level.downsample_yx[0],
          site.centre_level0_yx[1] / level.downsample_yx[1]};
}

Json bench_transform(const Arguments& a) {
  const RunInputs inputs = open_run(a.config, "", a.threads, "cpu");
  const auto& config = inputs.config;
  const auto graph =
      transform::Graph::compile(config.transforms, config.patch, [&](const std::string& id) {
        return inputs.cohort->images()[inputs.cohort->find_image(id)].colour;
      });
  constexpr std::uint64_t kDistinct =
      32;  // windows kept in memory; more samples take turns with them
  std::vector<Prepared> prepared(std::min(a.count, kDistinct));
  const auto locate = [&](const Prepared& p, std::uint64_t i, std::size_t c,
                          transform::PatchGeometry& geometry) {
    const auto& image = inputs.cohort->images()[p.site.image];
    const auto params = graph.draw({config.sampling.seed, 0, i}, image.colour, true);
    const std::size_t k = loader::choose_level(image, config.patch.context[c], config);
    graph.locate(*params, config.patch.context[c], on_level(p.site, image.levels[k]),
                 loader::level_mpp_yx(image, k, config), geometry);
    return params;
  };
  for (std::uint64_t i = 0; i < prepared.size(); ++i) {
    Prepared& p = prepared[i];
    p.site = inputs.plan->site(0, i);
    for (std::size_t c = 0; c < config.patch.context.size(); ++c) {
      transform::PatchGeometry geometry;
      locate(p, i, c, geometry);
      const Box2& box = geometry.window;
      p.row_bytes.push_back(box.width * 3);
      p.windows.emplace_back(static_cast<std::size_t>(box.height * box.width * 3));
      const auto& image = inputs.cohort->images()[p.site.image];
      inputs.cohort
          ->image_array(p.site.image, loader::choose_level(image, config.patch.context[c], config))
          ->read({{0, box.y0, box.x0},
                  {3, box.height, box.width},
                  p.windows.back().data(),
                  {1, box.width * 3, 3},
                  {}});
    }
  }
  const std::size_t plane =
      static_cast<std::size_t>(config.patch.height) * static_cast<std::size_t>(config.patch.width);
  ThreadPool pool(config.loader.threads);
  device::BufferPool outputs;
  const auto transform_all = [&] {
    pool.parallel_for(a.count, [&](std::size_t i) {
      static thread_local transform::Scratch scratch;
      static thread_local transform::PatchGeometry geometry;
      auto output = outputs.take(plane * 3 * sizeof(float));
      const std::uint64_t at = i % prepared.size();
      for (std::size_t c = 0; c < config.patch.context.size(); ++c) {
        const auto params = locate(prepared[at], at, c, geometry);
        const Box2& box = geometry.window;
        graph.image(
            *params, geometry,
            {prepared[at].windows[c].as<std::uint8_t>(), static_cast<std::int32_t>(box.height),
             static_cast<std::int32_t>(box.width), prepared[at].row_bytes[c]},
            {0, 0, box.height, box.width}, output->as<float>(), scratch);
      }
    });
  };
  transform_all();
  Meter meter;
  transform_all();
  return meter.report(a.count, a.count * config.patch.context.size() * plane * 3 * sizeof(float),
                      pool.size());
}

Json bench_loader(const Arguments& a) {
  const RunInputs inputs = open_run(a.config, "", a.threads, "cpu");
  const auto batch = static_cast<std::uint64_t>(inputs.config.sampling.batch);
  const std::uint64_t batches = (a.count + batch - 1) / batch;
  loader::Loader loader(inputs.cohort, inputs.config, inputs.plan, inputs.with_labels());
  // The ring is full before and after, so exactly `batches` batches are made between. The samples
  // are each other's neighbours in the epoch, not the same twice: the page cache has the store
  // after the warm-up of the whole command.
  const auto ring = static_cast<std::uint64_t>(inputs.config.loader.prefetch);
  for (std::uint64_t i = 0; i < batches + ring; ++i) loader.next();
  loader.fill();
  const loader::StallStats before = loader.stats();
  Meter meter;
  for (std::uint64_t i = 0; i < batches; ++i) loader.next();
  loader.fill();
  const auto& patch = inputs.config.patch;
  const std::uint64_t sample_bytes = patch.context.size() * 3 * sizeof(float) *
                                     static_cast<std::uint64_t>(patch.height) *
                                     static_cast<std::uint64_t>(patch.width);
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
  result["contexts"] = patch.context.size();
  result["stall"] = stall_json(after);
  return result;
}

void run(const Arguments& a) {
  if (a.what == "read" ? a.config.empty() == a.store.empty() : a.config.empty()) {
    fail(ErrorCode::usage, "bench {}: give --config{}", a.what,
         a.what == "read" ? ", or --store and --image" : "");
  }
  if (!a.store.empty() && (a.what != "read" || a.image.empty())) {
    fail(ErrorCode::usage, "--store goes with bench read and --image");
  }
  Json result = a.what == "read"        ? bench_read(a)
                : a.what == "transform" ? bench_transform(a)
                                        : bench_loader(a);
  result["work"] = a.what;
  if (a.json) {
    fmt::print("{}", dump_json(result));
    return;
  }
  for (const auto& [key, value] : result.items()) {
    if (!value.is_object()) fmt::print("{:<24} {}\n", key, value.dump());
  }
}

}  // namespace

void add_bench(CLI::App& app) {
  CLI::App* bench =
      app.add_subcommand("bench", "Measures reading, transforming or loading of patches.");
  bench->footer(kFooter);
  auto a = std::make_shared<Arguments>();
  bench->add_option("WHAT", a->what, "read, transform or loader")
      ->required()
      ->check(CLI::IsMember({"read", "transform", "loader"}));
  bench->add_option("--config", a->config, "run config (YAML): store, patch, sampling, transforms");
  bench->add_option("--count", a->count, "items to measure")
      ->capture_default_str()
      ->check(CLI::Range(1, 100'000'000));
  bench
      ->add_option("--threads", a->threads,
                   "0: every core [default: the config's, else every core]")
      ->check(CLI::Range(0, 1024));
  bench->add_option("--store", a->store, "read: a store, instead of --config");
  bench->add_option("--image", a->image, "read: name of an image of --store");
  bench->add_option("--level", a->level, "read: pyramid level of --image")->capture_default_str();
  bench->add_option("--size", a->size, "read: edge in pixels of the patches of --image")
      ->capture_default_str()
      ->check(CLI::Range(1, 65536));
  bench->add_option("--seed", a->seed, "read: where splitmix64 starts")->capture_default_str();
  bench->add_flag("--json", a->json, "print one JSON object");
  bench->callback([a] { run(*a); });
}

}  // namespace headrace::cli
