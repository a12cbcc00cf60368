#include <fmt/format.h>
#include <malloc.h>

#include <memory>
#include <string>
#include <vector>

#include "cli/bench_meter.hpp"
#include "cli/commands.hpp"
#include "headrace/core/error.hpp"
#include "learn/process/process_file.hpp"

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
  process::FileRequest request;
  std::uint64_t memory_mib = 256, device_mib = 1024;
  bool json = false;
};

constexpr const char* kLoad = "load";

std::vector<std::string> operations() {
  auto words = names_of<process::OperationName>();
  words.insert(words.begin(), kLoad);
  return words;
}

/// place: among operations().
void take_operation(std::size_t place, Arguments& a) {
  a.request.load = place == 0;
  if (!a.request.load)
    a.request.options.operation.name = kNamesOf<process::OperationName>[place - 1].first;
}

void print(const Arguments& a, const process::ProcessReport& r, double peak_mb) {
  const process::FileRequest& request = a.request;
  Json json = process::report_of(request, r);
  json["peak_rss_mb"] = peak_mb;
  if (a.json) {
    fmt::print("{}", dump_json(json));
    return;
  }
  fmt::print("{} of {} x {} pixels in {:.2f} s, {:.0f} Mpixel/s; peak memory {:.0f} MB\n",
             request.load ? kLoad : name_of(request.options.operation.name), r.height, r.width,
             r.whole_s, json["mpix_per_s"].get<double>(), peak_mb);
  fmt::print("load {:.2f} s, process {:.2f} s, save {:.2f} s{}\n", r.load_s, r.process_s, r.save_s,
             r.overlapped ? ", overlapped and summed over threads" : "");
  if (!r.loaded_by.empty()) fmt::print("read into the GPU's memory by {}\n", r.loaded_by);
  if (!r.saved_by.empty()) fmt::print("written from the GPU's memory by {}\n", r.saved_by);
  if (request.load) return;
  fmt::print("{} chunks stored, {} empty, {} kept of an earlier run: {}\n", r.counts.written,
             r.counts.empty, r.counts.kept, request.options.sink.path);
}

void run(Arguments& a) {
  a.request.options.memory_bytes = a.memory_mib << 20;
  a.request.options.device_bytes = a.device_mib << 20;
  // Chunks are encoded in buffers of a few MB: kept, not given back to the system each time.
  mallopt(M_MMAP_THRESHOLD, 64 << 20);
  mallopt(M_TRIM_THRESHOLD, 128 << 20);
  const Meter meter;
  const process::ProcessReport report = process::process_file(a.request);
  print(a, report, meter.report(1, 1, report.workers).at("peak_rss_mb").get<double>());
}

}  // namespace

void add_process(Command app) {
  Command process = app.subcommand(
      "process", "Runs an operation over a whole image, from file to file, in bounded memory.");
  process.footer(kFooter);
  auto a = std::make_shared<Arguments>();
  auto& request = a->request;
  auto& options = request.options;
  auto& sink = options.sink;
  process
      .word(
          "OPERATION", operations(), [a](std::size_t place) { take_operation(place, *a); },
          "what is done with the image; below")
      .required();
  process
      .option("IN", request.in,
              "a slide or image file, an OME-Zarr image or Zarr array, or a store")
      .required();
  process.option("OUT", sink.path, "a folder (OME-Zarr image), or a file ending in .tif");
  process.option("--image", request.image, "name of an image, where IN is a store");
  process.option("--level", request.level, "level of the pyramid, 0 the largest").shows_default();
  process.choice("--mode", options.mode, "tilewise: bounded memory; global: all in memory");
  process
      .option("--tile", options.tile,
              "edge in pixels of what is processed at a time [default: the chunk's]")
      .range(16, 8192);
  process.option("--memory", a->memory_mib, "MiB that a tilewise run may take")
      .shows_default()
      .range(32, 1 << 20);
  process.option("--threads", request.threads, "0: every core").shows_default().range(0, 1024);
  process.choice(
      "--device", request.device,
      "where to compute: cpu, cuda (a GPU; decoding and writing stay with the CPU); auto: "
      "the CPU");
  process
      .option("--device-memory", a->device_mib,
              "MiB of the GPU's memory that a tilewise run may take")
      .shows_default()
      .range(1, 1 << 20);
  process.choice(
      "--gpudirect", request.gpudirect,
      "with --device cuda and --mode global: uncompressed TIFF tiles and Zarr chunks go "
      "between files and the GPU's memory. auto: by cuFile, or past the decoders by POSIX "
      "where it does not start; on: by cuFile alone; off: not");
  process.choice("--decode", options.decode,
                 "of JPEG tiles: gpu (nvJPEG, some levels apart), cpu; auto: the CPU");
  process.option("--chunk", sink.chunk, "edge of OUT's chunks or TIFF tiles")
      .shows_default()
      .one_number_of({256, 512, 1024, 2048});
  process.choice("--codec", sink.codec, "of a Zarr OUT");
  process.option("--codec-level", sink.level, "of --codec").shows_default().range(1, 9);
  process.choice("--dtype", options.operation.output, "of OUT [default: the operation's own]");
  process.option("--sigma", options.operation.sigma_px, "gaussian: in pixels, 0.1 to 32")
      .shows_default();
  process.choice("--stains", options.operation.stains, "stain-separate: whose stain vectors");
  process.flag("--overwrite", sink.overwrite, "replace an OUT that is finished");
  process.flag("--json", a->json, "print one JSON object");
  process.callback([a] { run(*a); });
}

}  // namespace headrace::cli
