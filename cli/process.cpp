#include "headrace/process/process.hpp"

#include <fmt/format.h>
#include <malloc.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "cli/bench_meter.hpp"
#include "cli/choice_option.hpp"
#include "cli/commands.hpp"
#include "headrace/core/error.hpp"
#include "headrace/device/cpu_isa.hpp"
#include "headrace/device/device_choice.hpp"

namespace headrace::cli {
namespace {

constexpr const char* kFooter =
    "Operations:\n"
    "  load            reads the image into memory (the GPU's, with --device cuda) and drops it; "
    "no OUT\n"
    "  save            the pixels as they are\n"
    "  sobel           gradient magnitude of the luminance (float32, 1 is full range)\n"
    "  gaussian        every channel blurred by --sigma (uint8)\n"
    "  stain-separate  amounts of haematoxylin and eosin (float32, optical density)\n"
    "  tissue-mask     1 where the darkest channel is denser than Otsu's threshold (uint8)\n"
    "  normalize       Macenko stain normalisation to the built-in reference (uint8)\n"
    "\n"
    "Examples:\n"
    "  headrace process sobel slide.svs edges.zarr --mode tilewise --threads 8\n"
    "  headrace process gaussian cohort.zarr blurred.tif --image case-17 --sigma 2.5\n"
    "\n"
    "Both modes, every tile size, any number of threads and both devices give the same stored\n"
    "bytes. With --device cuda the driver's own memory comes on top of --memory. Outside of the\n"
    "image the pixels mirrored at its edge count (scikit-image's mode 'reflect').\n"
    "A Zarr output is marked incomplete until it is whole; a run that was interrupted is "
    "continued\n"
    "by the same command.\n"
    "Exit codes: 0 done, 1 failed, 2 usage, 4 a tile of IN is damaged or IN is incomplete.";

struct Arguments {
  bool load = false;  // instead of an operation
  std::string in, out, image;
  device::DeviceChoice device = device::DeviceChoice::automatic;
  storage::GpuDirect gpudirect = storage::GpuDirect::off;
  int level = 0, threads = 0;
  std::uint64_t memory_mib = 256, device_mib = 1024;
  process::ProcessOptions options;
  bool json = false;
};

constexpr const char* kLoad = "load";

std::vector<std::string> operations() {
  auto words = names_of<process::OperationName>();
  words.insert(words.begin(), kLoad);
  return words;
}

void take_operation(const std::string& word, Arguments& a) {
  a.load = word == kLoad;
  if (a.load) return;
  const auto name = value_named<process::OperationName>(word);
  if (!name) fail(ErrorCode::usage, "OPERATION {}: {}", word, none_of(word, operations()));
  a.options.operation.name = *name;
}

bool on_gpu(const Arguments& a) { return a.device == device::DeviceChoice::cuda; }

Json report_json(const Arguments& a, const process::ProcessReport& r, double peak_mb) {
  const double mpix = static_cast<double>(r.height) * static_cast<double>(r.width) / 1e6;
  Json json{
      {"operation", r.operation},
      {"in", a.in},
      {"height", r.height},
      {"width", r.width},
      {"seconds",
       {{"whole", r.whole_s},
        {"statistics", r.statistics_s},
        {"load", r.load_s},
        {"process", r.process_s},
        {"save", r.save_s}}},
      {"seconds_are", r.overlapped ? "whole: elapsed; stages: summed over threads" : "elapsed"},
      {"mpix_per_s", mpix / r.whole_s},
      {"source_bytes", r.source_bytes},
      {"threads", r.workers},
      {"device", on_gpu(a) ? "cuda" : "cpu"},
      {"isa", device::name_of(device::cpu_isa())},
      {"peak_rss_mb", peak_mb}};
  if (!r.loaded_by.empty()) json["loaded_by"] = r.loaded_by;
  if (a.load) return json;
  const bool tilewise = a.options.mode == process::Mode::tilewise;
  json["out"] = a.out;
  json["mode"] = name_of(a.options.mode);
  json["channels"] = r.channels;
  json["chunk"] = a.options.sink.chunk;
  json["tile"] = a.options.tile == 0 ? a.options.sink.chunk : a.options.tile;
  json["codec"] = name_of(a.options.sink.codec);
  json["chunks"] = {
      {"written", r.counts.written}, {"empty", r.counts.empty}, {"kept", r.counts.kept}};
  json["stored_bytes"] = r.counts.bytes;
  if (!r.saved_by.empty()) json["saved_by"] = r.saved_by;
  if (tilewise) json["memory_mib"] = a.memory_mib;
  if (tilewise && on_gpu(a)) json["device_memory_mib"] = a.device_mib;
  return json;
}

void print(const Arguments& a, const process::ProcessReport& r, double peak_mb) {
  const Json json = report_json(a, r, peak_mb);
  if (a.json) {
    fmt::print("{}", dump_json(json));
    return;
  }
  fmt::print("{} of {} x {} pixels in {:.2f} s, {:.0f} Mpixel/s; peak memory {:.0f} MB\n",
             a.load ? kLoad : name_of(a.options.operation.name), r.height, r.width, r.whole_s,
             json["mpix_per_s"].get<double>(), peak_mb);
  fmt::print("load {:.2f} s, process {:.2f} s, save {:.2f} s{}\n", r.load_s, r.process_s, r.save_s,
             r.overlapped ? ", overlapped and summed over threads" : "");
  if (!r.loaded_by.empty()) fmt::print("read into the GPU's memory by {}\n", r.loaded_by);
  if (!r.saved_by.empty()) fmt::print("written from the GPU's memory by {}\n", r.saved_by);
  if (a.load) return;
  fmt::print("{} chunks stored, {} empty, {} kept of an earlier run: {}\n", r.counts.written,
             r.counts.empty, r.counts.kept, a.out);
}

void check(const Arguments& a) {
  if (a.load && !a.out.empty()) fail(ErrorCode::usage, "OUT: load stores nothing; leave it out");
  if (!a.load && a.out.empty())
    fail(ErrorCode::usage, "OUT: name the Zarr folder or .tif to write");
  const bool decodes = a.options.decode == zarr::DecodeOn::gpu;
  if (!on_gpu(a) && (decodes || a.gpudirect != storage::GpuDirect::off)) {
    fail(ErrorCode::usage, "--{} needs --device cuda",
         decodes ? "decode gpu" : fmt::format("gpudirect {}", name_of(a.gpudirect)));
  }
  std::error_code ignored;
  if (!a.out.empty() && std::filesystem::equivalent(a.in, a.out, ignored)) {
    fail(ErrorCode::usage, "{}: is IN and OUT at once; name another OUT", a.out);
  }
}

void run(Arguments& a) {
  check(a);
  a.options.memory_bytes = a.memory_mib << 20;
  a.options.device_bytes = a.device_mib << 20;
  a.options.sink.path = a.out;
  // Chunks are encoded in buffers of a few MB: kept, not given back to the system each time.
  mallopt(M_MMAP_THRESHOLD, 64 << 20);
  mallopt(M_TRIM_THRESHOLD, 128 << 20);
  const auto accelerator = on_gpu(a) ? process::open_cuda_accelerator(a.gpudirect) : nullptr;
  const auto source = process::ImageSource::open(a.in, a.image, a.level);
  ThreadPool pool(a.threads);
  const Meter meter;
  const process::ProcessReport report =
      a.load ? process::load_image(*source, pool, accelerator.get(), a.options.decode)
             : process::process_image(*source, a.options, pool, accelerator.get());
  print(a, report, meter.report(1, 1, pool.size()).at("peak_rss_mb").get<double>());
}

}  // namespace

void add_process(CLI::App& app) {
  CLI::App* process = app.add_subcommand(
      "process", "Runs an operation over a whole image, from file to file, in bounded memory.");
  process->footer(kFooter);
  auto a = std::make_shared<Arguments>();
  auto& options = a->options;
  auto& sink = options.sink;
  process
      ->add_option_function<std::string>(
          "OPERATION", [a](const std::string& word) { take_operation(word, *a); },
          "what is done with the image; below")
      ->type_name(type_of(operations()))
      ->required();
  process
      ->add_option("IN", a->in,
                   "a slide or image file, an OME-Zarr image or Zarr array, or a store")
      ->required();
  process->add_option("OUT", a->out, "a folder (OME-Zarr image), or a file ending in .tif");
  process->add_option("--image", a->image, "name of an image, where IN is a store");
  process->add_option("--level", a->level, "level of the pyramid, 0 the largest")
      ->capture_default_str();
  add_choice(*process, "--mode", options.mode, "tilewise: bounded memory; global: all in memory");
  process
      ->add_option("--tile", options.tile,
                   "edge in pixels of what is processed at a time [default: the chunk's]")
      ->check(CLI::Range(16, 8192));
  process->add_option("--memory", a->memory_mib, "MiB that a tilewise run may take")
      ->capture_default_str()
      ->check(CLI::Range(32, 1 << 20));
  process->add_option("--threads", a->threads, "0: every core")
      ->capture_default_str()
      ->check(CLI::Range(0, 1024));
  add_choice(*process, "--device", a->device,
             "where to compute: cpu, cuda (a GPU; decoding and writing stay with the CPU); auto: "
             "the CPU");
  process
      ->add_option("--device-memory", a->device_mib,
                   "MiB of the GPU's memory that a tilewise run may take")
      ->capture_default_str()
      ->check(CLI::Range(1, 1 << 20));
  add_choice(*process, "--gpudirect", a->gpudirect,
             "with --device cuda and --mode global: uncompressed TIFF tiles and Zarr chunks go "
             "between files and the GPU's memory. auto: by cuFile, or past the decoders by POSIX "
             "where it does not start; on: by cuFile alone; off: not");
  add_choice(*process, "--decode", options.decode,
             "of JPEG tiles: gpu (nvJPEG, some levels apart), cpu; auto: the CPU");
  process->add_option("--chunk", sink.chunk, "edge of OUT's chunks or TIFF tiles")
      ->capture_default_str()
      ->check(CLI::IsMember({256, 512, 1024, 2048}));
  add_choice(*process, "--codec", sink.codec, "of a Zarr OUT");
  process->add_option("--codec-level", sink.level, "of --codec")
      ->capture_default_str()
      ->check(CLI::Range(1, 9));
  add_choice(*process, "--dtype", options.operation.output,
             "of OUT [default: the operation's own]");
  process->add_option("--sigma", options.operation.sigma_px, "gaussian: in pixels, 0.1 to 32")
      ->capture_default_str();
  add_choice(*process, "--stains", options.operation.stains, "stain-separate: whose stain vectors");
  process->add_flag("--overwrite", sink.overwrite, "replace an OUT that is finished");
  process->add_flag("--json", a->json, "print one JSON object");
  process->callback([a] { run(*a); });
}

}  // namespace headrace::cli
