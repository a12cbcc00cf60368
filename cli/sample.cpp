#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <variant>

#include "cli/canvas.hpp"
#include "cli/commands.hpp"
#include "cli/run_inputs.hpp"
#include "headrace/core/error.hpp"
#include "headrace/imaging/image_file.hpp"
#include "headrace/loader/level_choice.hpp"
#include "headrace/report/palette.hpp"

namespace headrace::cli {
namespace {

constexpr const char* kFooter =
    "Examples:\n"
    "  headrace sample --config run.yaml --count 8 --out montage.png\n"
    "  headrace sample --config run.yaml --count 4 --split val --out tiles.png\n"
    "\n"
    "One row a sample; for each context the stored pixels and, right of them, what the model gets, "
    "its normalisation\n"
    "taken back and the labels' outlines over it. The samples are the first of epoch 0, the very "
    "ones that training draws.\n"
    "Exit codes: 0 done, 1 failed, 2 usage, 4 a chunk is damaged.";

constexpr int kMargin = 12, kGap = 4, kLine = 18, kLargestCell = 320;
constexpr Rgb kPaper{250, 250, 250}, kInk{40, 40, 48}, kPale{120, 120, 130};

struct Arguments {
  std::string config, split, out;
  std::int64_t count = 8;
  int threads = -1;
};

/// Planes of a tensor back to 8-bit pixels; `spec` null: they are 0..1 already.
imaging::Image8 to_pixels(const float* planes, const transform::PatchSpec& patch,
                          const transform::NormalizeSpec* spec) {
  imaging::Image8 image(patch.height, patch.width, 3);
  const std::int64_t plane = std::int64_t{patch.height} * patch.width;
  for (std::int64_t i = 0; i < plane; ++i) {
    for (std::size_t c = 0; c < 3; ++c) {
      double value = planes[static_cast<std::int64_t>(c) * plane + i];
      if (spec != nullptr) value = value * spec->std[c] + spec->mean[c];
      image.pixels[static_cast<std::size_t>(3 * i) + c] =
          static_cast<std::uint8_t>(std::clamp(value * 255 + 0.5, 0.0, 255.0));
    }
  }
  return image;
}

/// Paints the pixels of every class but background that have another class within two pixels.
void outline(imaging::Image8& image, const std::uint8_t* labels) {
  constexpr std::int64_t kReach = 2;
  for (std::int64_t y = kReach; y + kReach < image.height; ++y) {
    for (std::int64_t x = kReach; x + kReach < image.width; ++x) {
      const std::uint8_t* at = labels + y * image.width + x;
      if (*at == 0 || *at == 255) continue;
      const bool inside = at[-kReach] == *at && at[kReach] == *at &&
                          at[-kReach * image.width] == *at && at[kReach * image.width] == *at;
      if (inside) continue;
      const Rgb colour = report::class_colour(*at);
      std::copy(colour.begin(), colour.end(), image.row(y) + 3 * x);
    }
  }
}

/// The stored pixels of a site, at the same scale, without any transform.
imaging::Image8 original(const RunInputs& inputs, const transform::Graph& plain,
                         const loader::SampleSite& site, int context, transform::Scratch& scratch) {
  const auto& config = inputs.config;
  const auto& image = inputs.cohort->images()[site.image];
  const std::size_t k = loader::choose_level(image, context, config);
  const auto& level = image.levels[k];
  const auto params = plain.draw({}, image.colour, false);
  transform::PatchGeometry geometry;
  plain.locate(*params, context,
               {site.centre_level0_yx[0] / level.downsample_yx[0],
                site.centre_level0_yx[1] / level.downsample_yx[1]},
               loader::level_mpp_yx(image, k, config), geometry);
  const Box2& box = geometry.window;
  device::HostBuffer window(static_cast<std::size_t>(box.height * box.width * 3));
  inputs.cohort->image_array(site.image, k)
      ->read({{0, box.y0, box.x0},
              {3, box.height, box.width},
              window.data(),
              {1, 3 * box.width, 3},
              {}});
  std::vector<float> planes(static_cast<std::size_t>(3 * config.patch.height) *
                            static_cast<std::size_t>(config.patch.width));
  plain.image(*params, geometry,
              {window.as<std::uint8_t>(), static_cast<std::int32_t>(box.height),
               static_cast<std::int32_t>(box.width), 3 * box.width},
              {0, 0, box.height, box.width}, planes.data(), scratch);
  return to_pixels(planes.data(), config.patch, nullptr);
}

std::string caption(const RunInputs& inputs, const loader::SampleSite& site) {
  const auto& image = inputs.cohort->images()[site.image];
  const auto& classes = inputs.cohort->classes();
  const std::string drawn = site.drawn_class >= 0
                                ? "drawn for " + classes[static_cast<std::size_t>(site.drawn_class)]
                            : inputs.plan->random() ? "drawn by tissue or anywhere"
                                                    : "tile";
  return fmt::format("#{}  {}  centre {:.0f}, {:.0f}  {}", site.index, image.id,
                     site.centre_level0_yx[0], site.centre_level0_yx[1], drawn);
}

void run(const Arguments& a) {
  if (!a.out.ends_with(".png")) fail(ErrorCode::usage, "--out {}: must end in .png", a.out);
  RunInputs inputs = open_run(a.config, a.split, a.threads, "cpu");
  auto& config = inputs.config;
  // One batch that holds them all: a sample does not depend on the batch that it is in.
  config.sampling.batch = config.eval.batch = a.count;
  loader::Loader loader(inputs.cohort, config, inputs.plan, inputs.with_labels(), 0, 0, 1);
  const auto batch = loader.next();
  const auto plain = transform::Graph::compile({}, config.patch);
  const transform::NormalizeSpec* normalize = nullptr;
  for (const auto& spec : config.transforms) {
    if (const auto* found = std::get_if<transform::NormalizeSpec>(&spec)) normalize = found;
  }
  const auto& patch = config.patch;
  const int factor = (std::max(patch.height, patch.width) + kLargestCell - 1) / kLargestCell;
  const std::int64_t cell_h = patch.height / factor, cell_w = patch.width / factor;
  const std::int64_t pair = 2 * cell_w + kGap, row = cell_h + kLine + kGap;
  const auto contexts = static_cast<std::int64_t>(patch.context.size());
  const auto& classes = inputs.cohort->classes();
  const bool legend = inputs.with_labels() && classes.size() > 1;
  const std::int64_t top = kMargin + kLine * (legend ? 2 : 1);
  Canvas canvas(top + batch->samples * row + kMargin,
                2 * kMargin + contexts * (pair + kMargin) - kMargin, kPaper);
  std::int64_t legend_x = kMargin;
  for (std::size_t c = 1; legend && c < classes.size(); ++c) {
    const std::int64_t need = 18 + 7 * static_cast<std::int64_t>(classes[c].size());
    if (legend_x + need > canvas.image().width) break;
    canvas.fill(kMargin + kLine + 3, legend_x, 9, 9, report::class_colour(c));
    canvas.text(kMargin + kLine, legend_x + 14, classes[c], kInk);
    legend_x += need + 12;
  }
  transform::Scratch scratch;
  const std::int64_t plane = batch->height * batch->width;
  for (std::int64_t c = 0; c < contexts; ++c) {
    const int context = patch.context[static_cast<std::size_t>(c)];
    const std::int64_t x = kMargin + c * (pair + kMargin);
    const std::string scale = config.patch_in_level0_pixels
                                  ? fmt::format("{} px", context)
                                  : fmt::format("{:g} um/px", patch.mpp * context);
    canvas.text(kMargin, x, fmt::format("stored, {}", scale), kInk);
    canvas.text(kMargin, x + cell_w + kGap, "as the model sees it", kInk);
    for (std::int64_t s = 0; s < batch->samples; ++s) {
      const std::int64_t y = top + s * row;
      const auto& site = batch->sites[static_cast<std::size_t>(s)];
      auto seen = to_pixels(batch->images + (s * contexts + c) * 3 * plane, patch, normalize);
      if (c == 0 && batch->labels != nullptr) outline(seen, batch->labels + s * plane);
      canvas.patch(y, x, original(inputs, plain, site, context, scratch), factor);
      canvas.patch(y, x + cell_w + kGap, seen, factor);
      if (c == 0) canvas.text(y + cell_h + 1, x, caption(inputs, site), kPale);
    }
  }
  imaging::write_png(a.out, canvas.image());
}

}  // namespace

void add_sample(CLI::App& app) {
  CLI::App* sample =
      app.add_subcommand("sample", "Shows what the model sees beside what is stored, as a PNG.");
  sample->footer(kFooter);
  auto a = std::make_shared<Arguments>();
  sample->add_option("--config", a->config, "run config (YAML)")->required();
  sample->add_option("--count", a->count, "samples, one row each")
      ->capture_default_str()
      ->check(CLI::Range(1, 64));
  sample->add_option("--out", a->out, "the picture, F.png")->required();
  sample->add_option("--split", a->split,
                     "tiles of this split without random transforms [default: training samples]");
  sample
      ->add_option("--threads", a->threads, "loader threads; 0: every core [default: the config's]")
      ->check(CLI::Range(0, 1024));
  sample->callback([a] { run(*a); });
}

}  // namespace headrace::cli
