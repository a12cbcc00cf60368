#include <fmt/format.h>

#include <charconv>
#include <filesystem>
#include <memory>
#include <span>

#include "cli/commands.hpp"
#include "cli/npy_file.hpp"
#include "headrace/core/error.hpp"
#include "headrace/imaging/image_file.hpp"
#include "headrace/imaging/slide/slide_reader.hpp"
#include "headrace/source/cohort.hpp"

namespace headrace::cli {
namespace {

constexpr const char* kFooter =
    "Examples:\n"
    "  headrace read cohort.zarr case-17 --level 0 --origin 4096,8192 --size 512,512 --out "
    "patch.npy\n"
    "  headrace read scan.svs --level 1 --origin 0,0 --size 256,256 --out patch.png\n"
    "\n"
    "Pixels outside of the image read as white, labels as 255.\n"
    "Exit codes: 0 done, 1 failed, 2 usage, 4 a chunk is damaged.";

struct Arguments {
  std::string path, image, label, out;
  int level = 0;
  std::vector<std::int64_t> origin, size;
};

imaging::Image8 read_store(const Arguments& a) {
  if (a.image.empty()) fail(ErrorCode::usage, "IMAGE: name an image of {}", a.path);
  const auto cohort = source::Cohort::open(a.path);
  const std::size_t image = cohort->find_image(a.image);
  const auto& record = cohort->images()[image];
  if (a.level < 0 || static_cast<std::size_t>(a.level) >= record.levels.size()) {
    fail(ErrorCode::usage, "--level {}: image {} has levels 0 to {}", a.level, a.image,
         record.levels.size() - 1);
  }
  const auto level = static_cast<std::size_t>(a.level);
  imaging::Image8 pixels(a.size[0], a.size[1], a.label.empty() ? 3 : 1);
  auto* dst = reinterpret_cast<std::byte*>(pixels.pixels.data());
  if (a.label.empty()) {
    cohort->image_array(image, level)
        ->read({{0, a.origin[0], a.origin[1]},
                {3, a.size[0], a.size[1]},
                dst,
                {1, 3 * a.size[1], 3},
                {}});
  } else {
    cohort->label_array(image, a.label, level)->read({a.origin, a.size, dst, {a.size[1], 1}, {}});
  }
  return pixels;
}

imaging::Image8 read_file(const Arguments& a) {
  const auto reader = imaging::SlideReader::open(a.path);
  const auto levels = reader->info().levels.size();
  if (!a.label.empty()) fail(ErrorCode::usage, "--label: {} is a slide file, not a store", a.path);
  if (a.level < 0 || static_cast<std::size_t>(a.level) >= levels) {
    fail(ErrorCode::usage, "--level {}: {} has levels 0 to {}", a.level, a.path, levels - 1);
  }
  imaging::Image8 pixels(a.size[0], a.size[1], 3);
  reader->read(a.level, a.origin[0], a.origin[1], a.size[0], a.size[1], pixels.pixels.data(),
               3 * a.size[1]);
  return pixels;
}

void run(const Arguments& a) {
  if (a.origin.size() != 2 || a.size.size() != 2) {
    fail(ErrorCode::usage,
         "--origin and --size take two numbers, y,x and h,w; {} and {} were given", a.origin.size(),
         a.size.size());
  }
  if (a.size[0] < 1 || a.size[1] < 1 || a.size[0] > 65536 || a.size[1] > 65536) {
    fail(ErrorCode::usage, "--size {},{}: each must be 1 to 65536", a.size[0], a.size[1]);
  }
  const std::string ending = std::filesystem::path(a.out).extension().string();
  if (ending != ".npy" && ending != ".png")
    fail(ErrorCode::usage, "--out {}: must end in .npy or .png", a.out);
  const auto pixels = std::filesystem::is_directory(a.path) ? read_store(a) : read_file(a);
  if (ending == ".npy") {
    std::vector<std::int64_t> shape{pixels.height, pixels.width};
    if (pixels.channels > 1) shape.push_back(pixels.channels);
    write_npy(a.out, DType::uint8, shape, std::as_bytes(std::span(pixels.pixels)));
  } else {
    imaging::write_png(a.out, pixels);
  }
}

}  // namespace

void add_read(CLI::App& app) {
  CLI::App* read = app.add_subcommand("read", "Reads pixels exactly as they are stored.");
  read->footer(kFooter);
  auto arguments = std::make_shared<Arguments>();
  read->add_option("STORE", arguments->path, "a store, or a slide file")->required();
  read->add_option("IMAGE", arguments->image, "the image's name; not needed for a slide file");
  read->add_option("--level", arguments->level, "level of the pyramid, 0 the largest")
      ->capture_default_str();
  read->add_option("--origin", arguments->origin, "y,x in pixels of the level; may lie outside")
      ->delimiter(',')
      ->required();
  read->add_option("--size", arguments->size, "h,w in pixels")->delimiter(',')->required();
  read->add_option("--label", arguments->label, "read this label image instead of the pixels");
  read->add_option("--out", arguments->out, "F.npy (y, x, rgb) or F.png")->required();
  read->callback([arguments] { run(*arguments); });
}

}  // namespace headrace::cli
