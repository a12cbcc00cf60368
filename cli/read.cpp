#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <span>

#include "cli/commands.hpp"
#include "cli/npy_file.hpp"
#include "cli/read_region.hpp"
#include "headrace/cohort/cohort.hpp"
#include "headrace/core/error.hpp"
#include "headrace/imaging/picture/image_file.hpp"
#include "headrace/imaging/slide/slide_reader.hpp"
#include "headrace/storage/place.hpp"

namespace headrace::cli {

std::size_t level_of(const ReadArguments& a, std::size_t levels) {
  if (a.level < 0 || static_cast<std::size_t>(a.level) >= levels) {
    fail(ErrorCode::usage, "--level {}: {} has levels 0 to {}", a.level,
         a.image.empty() ? a.path : "image " + a.image, levels - 1);
  }
  return static_cast<std::size_t>(a.level);
}

void check_region(const ReadArguments& a, std::size_t axes) {
  if (a.origin.size() != axes || a.size.size() != axes) {
    fail(ErrorCode::usage, "--origin and --size take {}; {} and {} numbers were given",
         axes == 2 ? "two numbers, y,x and h,w, for slides"
                   : "three numbers, z,y,x and d,h,w, for volumes",
         a.origin.size(), a.size.size());
  }
  double elements = 1;
  for (const std::int64_t n : a.size) {
    if (n < 1 || n > 65536) {
      fail(ErrorCode::usage, "--size {}: each must be 1 to 65536", fmt::join(a.size, ","));
    }
    elements *= static_cast<double>(n);
  }
  if (elements > 4294967296.0) {
    fail(ErrorCode::usage, "--size {}: more than 2^32 elements; read it in parts",
         fmt::join(a.size, ","));
  }
}

namespace {

constexpr const char* kFooter =
    "Examples:\n"
    "  headrace read cohort.zarr case-17 --level 0 --origin 4096,8192 --size 512,512 --out "
    "patch.npy\n"
    "  headrace read scan.svs --level 1 --origin 0,0 --size 256,256 --out patch.png\n"
    "\n"
    "  headrace read ct.zarr case-3 --origin 40,0,0 --size 96,512,512 --out block.npy\n"
    "  headrace read ct.zarr case-3 --origin 88,0,0 --size 1,512,512 --window -160,240 --out "
    "slice.png\n"
    "  headrace read ct.zarr case-3 --label annotation --out labels.nii.gz\n"
    "\n"
    "Of slides origin and size are y,x; pixels outside read as white, labels as 255. Of volumes "
    "they "
    "are z,y,x;\n"
    "voxels outside read as -1024 HU (PET as 0), labels as 0. .npy has PET as it is stored, in\n"
    "hundredths of SUV; .nii.gz says so in its scl_slope. Volumes are stored in one order, "
    "whatever that "
    "of\n"
    "their files: x grows to the patient's left, y to the back, z up. A picture needs a size of 1 "
    "along\n"
    "one axis and shows it as radiologists do (the patient's right at the left, front or head on "
    "top).\n"
    "F.nii.gz is all of level 0, back in its file's own order; it takes no origin and no size.\n"
    "Exit codes: 0 done, 1 failed, 2 usage, 4 a chunk is damaged.";

pixels::Image8 read_slide(const ReadArguments& a, const cohort::Cohort& cohort) {
  check_region(a, 2);
  const std::size_t image = cohort.find_image(a.image);
  const std::size_t level = level_of(a, cohort.images()[image].levels.size());
  pixels::Image8 pixels(a.size[0], a.size[1], a.label.empty() ? 3 : 1);
  auto* dst = reinterpret_cast<std::byte*>(pixels.pixels.data());
  if (a.label.empty()) {
    cohort.image_array(image, level)
        ->read({{0, a.origin[0], a.origin[1]},
                {3, a.size[0], a.size[1]},
                dst,
                {1, 3 * a.size[1], 3},
                {}});
  } else {
    cohort.label_array(image, a.label, level)->read({a.origin, a.size, dst, {a.size[1], 1}, {}});
  }
  return pixels;
}

void refuse_channel(const ReadArguments& a) {
  if (!a.channel.empty()) fail(ErrorCode::usage, "--channel {}: is for volumes", a.channel);
}

pixels::Image8 read_file(const ReadArguments& a) {
  check_region(a, 2);
  const auto reader = imaging::SlideReader::open(a.path);
  if (!a.label.empty()) fail(ErrorCode::usage, "--label: {} is a slide file, not a store", a.path);
  refuse_channel(a);
  level_of(a, reader->info().levels.size());
  pixels::Image8 pixels(a.size[0], a.size[1], 3);
  reader->read(a.level, a.origin[0], a.origin[1], a.size[0], a.size[1], pixels.pixels.data(),
               3 * a.size[1]);
  return pixels;
}

void refuse_nifti(const ReadArguments& a) {
  if (a.out.ends_with(".nii.gz"))
    fail(ErrorCode::usage, "--out {}: slides are written as .npy or .png", a.out);
}

void run(const ReadArguments& a) {
  const bool nifti = a.out.ends_with(".nii.gz");
  const bool npy = a.out.ends_with(".npy");
  if (!npy && !nifti && !a.out.ends_with(".png"))
    fail(ErrorCode::usage, "--out {}: must end in .npy, .png or, for volumes, .nii.gz", a.out);
  if (!a.window.empty() && (a.window.size() != 2 || !(a.window[0] < a.window[1])))
    fail(ErrorCode::usage, "--window {}: two rising values, low,high", fmt::join(a.window, ","));
  pixels::Image8 pixels;
  const auto place = storage::Place::parse(a.path);
  if (place.is_url() || std::filesystem::is_directory(place.path())) {
    if (a.image.empty()) fail(ErrorCode::usage, "IMAGE: name an image of {}", a.path);
    const auto cohort = cohort::Cohort::open(a.path, a.version);
    if (cohort->kind() == "volume") {
      return nifti ? read_volume_in_file_order(a, *cohort) : read_volume_region(a, *cohort);
    }
    refuse_nifti(a);
    refuse_channel(a);
    pixels = read_slide(a, *cohort);
  } else {
    refuse_nifti(a);
    pixels = read_file(a);
  }
  if (npy) {
    std::vector<std::int64_t> shape{pixels.height, pixels.width};
    if (pixels.channels > 1) shape.push_back(pixels.channels);
    write_npy(a.out, DType::uint8, shape, std::as_bytes(std::span(pixels.pixels)));
  } else {
    imaging::write_png(a.out, pixels);
  }
}

}  // namespace

void add_read(Command app) {
  Command read = app.subcommand("read", "Reads pixels exactly as they are stored.");
  read.footer(kFooter);
  auto arguments = std::make_shared<ReadArguments>();
  read.option("STORE", arguments->path, "a store, or a slide file").required();
  read.option("IMAGE", arguments->image, "the image's name; not needed for a slide file");
  read.option("--level", arguments->level, "level of the pyramid, 0 the largest").shows_default();
  read.option("--origin", arguments->origin,
              "y,x (volumes: z,y,x) in pixels of the level; may lie outside")
      .separated_by_commas();
  read.option("--size", arguments->size, "h,w (volumes: d,h,w) in pixels").separated_by_commas();
  read.option("--label", arguments->label, "read this label image instead of the pixels");
  read.option("--channel", arguments->channel,
              "of volumes with several channels: which one (the first)");
  read.option("--version", arguments->version,
              "a version of the store: a dataset hash, or its first digits (the current one)");
  read.option("--window", arguments->window,
              "low,high: HU, or SUV of PET, shown as black and as white in a .png of a volume "
              "(-160,240; 0,10)")
      .separated_by_commas();
  read.option("--out", arguments->out,
              "F.npy (y, x, rgb), of volumes (z, y, x); F.png; of volumes F.nii.gz")
      .required();
  read.callback([arguments] { run(*arguments); });
}

}  // namespace headrace::cli
