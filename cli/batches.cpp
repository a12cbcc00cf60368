#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "cli/commands.hpp"
#include "cli/npy_file.hpp"
#include "cli/open_run.hpp"
#include "headrace/core/error.hpp"
#include "headrace/core/progress.hpp"
#include "headrace/core/read_file.hpp"
#include "headrace/core/sha256.hpp"
#include "headrace/device/device_choice.hpp"

namespace headrace::cli {
namespace {

constexpr const char* kFooter =
    "Examples:\n"
    "  headrace batches --config run.yaml --count 8 --threads 2 --json\n"
    "  headrace batches --config run.yaml --split val --count 1 --out tensors/\n"
    "  headrace batches --config run.yaml --patches places.csv --count 10 --out tensors/\n"
    "\n"
    "The bytes of a batch depend on the config, the dataset and its number alone: not on "
    "--threads, --start or the CPU.\n"
    "With --out: batch-<epoch>-<number>-images.npy (sample, context, rgb, y, x) float32 and "
    "-labels.npy (sample, y, x) uint8; -view-<name>.npy of views after the first;\n"
    "of volumes (sample, 1, z, y, x) and (sample, z, y, x). loader.element and loader.layout: "
    "other "
    "values (bfloat16 as the bits of uint16),\n"
    "the channels innermost.\n"
    "Exit codes: 0 done, 1 failed, 2 usage, 4 a chunk is damaged.";

struct Arguments {
  std::string config, split, patches, out, run;
  std::optional<device::DeviceChoice> device;  ///< none: the config's
  std::uint64_t count = 1, start = 0, epoch = 0;
  int threads = -1;
  bool augment = false, json = false;
};

std::span<const std::byte> image_bytes(const loader::Batch& batch) {
  return {static_cast<const std::byte*>(batch.images), batch.images_bytes()};
}
std::span<const std::byte> label_bytes(const loader::Batch& batch) {
  return {reinterpret_cast<const std::byte*>(batch.labels), batch.labels_bytes()};
}

/// NumPy has no bfloat16: its bits are written unchanged.
DType npy_type(const loader::Batch& batch) {
  switch (batch.format.element) {
    case transform::Element::float32:
      return DType::float32;
    case transform::Element::float16:
      return DType::float16;
    case transform::Element::bfloat16:
      return DType::uint16;
  }
  return DType::float32;
}

/// The order of the values in memory.
std::vector<std::int64_t> npy_shape(const loader::Batch& batch) {
  std::vector<std::int64_t> shape = batch.images_shape();
  if (batch.format.layout == transform::Layout::channels_first) return shape;
  const auto channels = shape.begin() + (batch.depth > 0 ? 1 : 2);
  std::rotate(channels, channels + 1, shape.end());
  return shape;
}

void save(const loader::Batch& batch, const std::string& folder) {
  const std::string stem = fmt::format("{}/batch-{}-{}", folder, batch.epoch, batch.index);
  write_npy(stem + "-images.npy", npy_type(batch), npy_shape(batch), image_bytes(batch));
  for (std::size_t i = 1; i < batch.views.size(); ++i) {
    const loader::Batch view = batch.of_view(i);
    write_npy(fmt::format("{}-view-{}.npy", stem, batch.views[i].name), npy_type(view),
              npy_shape(view), image_bytes(view));
  }
  if (batch.labels == nullptr) return;
  write_npy(stem + "-labels.npy", DType::uint8, batch.labels_shape(), label_bytes(batch));
}

/// The list that was given, by its contents.
Json listed_json(const Arguments& a) {
  if (a.patches.empty()) return nullptr;
  return {{"sha256", sha256_hex(std::string_view(read_file(a.patches, kMostTableBytes)))},
          {"augmented", a.augment}};
}

void run(const Arguments& a) {
  if (a.augment && a.patches.empty())
    fail(ErrorCode::usage, "--augment belongs to --patches; training samples are always augmented");
  if (!a.patches.empty() && !a.split.empty())
    fail(ErrorCode::usage, "--patches and --split: name one of them");
  loader::ListedPatches listed{std::nullopt, a.augment};
  if (!a.patches.empty()) listed.list = loader::read_patch_list(a.patches);
  const RunInputs inputs = open_run(a.config, a.split, a.threads, a.device, a.run, listed);
  loader::Loader loader(inputs.cohort, inputs.config, inputs.plan, inputs.preprocessing,
                        {inputs.with_labels(), a.epoch, a.start, a.count, {}});
  if (!inputs.plan->random() && a.start >= loader.batches_per_epoch()) {
    fail(ErrorCode::usage, "--start {}: {} has {} batches, the last is {}", a.start,
         a.patches.empty() ? fmt::format("split '{}'", a.split) : a.patches,
         loader.batches_per_epoch(), loader.batches_per_epoch() - 1);
  }
  if (!a.out.empty()) std::filesystem::create_directories(a.out);
  Json batches = Json::array();
  Sha256 all;
  Progress progress("batches", a.count, "batch");
  while (const auto made = loader.next()) {
    const std::optional<loader::Batch> batch = made->on_host();
    const std::string images = sha256_hex(image_bytes(*batch));
    Json views = Json::object();
    const Json labels = batch->labels == nullptr ? Json() : Json(sha256_hex(label_bytes(*batch)));
    all.update(image_bytes(*batch));
    for (std::size_t i = 1; i < batch->views.size(); ++i) {
      const loader::Batch view = batch->of_view(i);
      views[batch->views[i].name] = sha256_hex(image_bytes(view));
      all.update(image_bytes(view));
    }
    all.update(label_bytes(*batch));
    if (!a.out.empty()) save(*batch, a.out);
    batches.push_back({{"epoch", batch->epoch},
                       {"batch", batch->index},
                       {"samples", batch->samples},
                       {"images_sha256", images},
                       {"labels_sha256", labels}});
    if (!views.empty()) batches.back()["views_sha256"] = views;
    if (!a.json)
      fmt::print("epoch {} batch {:>5}: images {} labels {}\n", batch->epoch, batch->index, images,
                 labels.is_null() ? "-" : labels.get<std::string>());
    progress.advance();
  }
  const std::string total = all.hex();
  if (!a.json) {
    fmt::print("all {}\n", total);
    return;
  }
  const loader::StallStats stats = loader.stats();
  fmt::print("{}", dump_json({{"dataset_hash", inputs.cohort->dataset_hash()},
                              {"config_hash", inputs.config_hash},
                              {"split", a.split.empty() ? Json(nullptr) : Json(a.split)},
                              {"patches", listed_json(a)},
                              {"image_shape", image_shape(inputs)},
                              {"batches", batches},
                              {"sha256", total},
                              {"decoded_by", stats.decoded_by},
                              {"left_to_cpu", stats.left_to_cpu},
                              {"read_by", stats.read_by},
                              {"stall", stall_json(stats)}}));
}

}  // namespace

void add_batches(Command app) {
  Command batches =
      app.subcommand("batches", "Makes batches as training sees them and prints their SHA-256.");
  batches.footer(kFooter);
  auto a = std::make_shared<Arguments>();
  batches.option("--config", a->config, "run config (YAML)").required();
  batches.option("--count", a->count, "number of batches; of a split: at most what it has")
      .shows_default()
      .range(1, 1'000'000'000);
  batches
      .option("--start", a->start,
              "first batch, counted from the start of --epoch; may lie in a later epoch")
      .shows_default();
  batches.option("--epoch", a->epoch, "epoch to start in").shows_default();
  batches.option("--threads", a->threads, "loader threads; 0: every core [default: the config's]")
      .range(0, 1024);
  batches.choice("--device", a->device, "where batches are made [default: the config's]");
  batches.option(
      "--split", a->split,
      "tile this split in fixed order, without random transforms [default: training samples]");
  batches.option("--patches", a->patches,
                 "the patches of a list (CSV: image, x, y of the first pixel on level 0, and where "
                 "they are stated level, width, height) in its order, without random transforms");
  batches.flag("--augment", a->augment,
               "with --patches: in an order of each epoch's own, with the config's transforms");
  batches.option("--out", a->out, "folder for the tensors as .npy");
  batches.option("--run", a->run,
                 "a run folder whose preprocessing is taken [default: fitted on the config's "
                 "training split]");
  batches.flag("--json", a->json, "print one JSON object");
  batches.callback([a] { run(*a); });
}

}  // namespace headrace::cli
